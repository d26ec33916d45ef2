import { useState } from "react";
import type { PlanProblem } from "../model/contract";
import type { Checking } from "../useChecked";
import { useComposing } from "../useComposing";
import { Sql } from "./Sql";
import { Explain } from "./Explain";

type Tab = "problems" | "sql" | "explain";

/** What the plan means: what is wrong with it, its SQL, and how it would run. */
export function Outcome({ checking, show }: { checking: Checking; show: (id: string) => void }) {
  const { draft } = useComposing();
  const [tab, setTab] = useState<Tab>("sql");
  const { checked, busy } = checking;
  const isEmpty = draft.parts.length === 0;
  const problems = isEmpty ? [] : (checked?.problems ?? []);
  const tabs: [Tab, string][] = [
    ["problems", problems.length ? `Problems (${problems.length})` : "Problems"],
    ["sql", "SQL"],
    ["explain", "Explain"],
  ];
  return (
    <section className="outcome" aria-label="What it means" aria-busy={busy}>
      <div className="tabs" role="tablist">
        {tabs.map(([each, title]) => (
          <button
            key={each}
            role="tab"
            id={`tab-${each}`}
            aria-selected={tab === each}
            className={each === "problems" && problems.length ? "bad" : ""}
            onClick={() => setTab(each)}
          >
            {title}
          </button>
        ))}
        {!isEmpty && <State count={problems.length} busy={busy} known={checked !== null} />}
      </div>
      <div className="content" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === "problems" && <Problems problems={problems} show={show} />}
        {tab === "sql" && <Sql text={checked?.sql ?? null} level={draft.level} />}
        {tab === "explain" && <Explain plan={checked?.plan ?? null} />}
      </div>
    </section>
  );
}

function State({ count, busy, known }: { count: number; busy: boolean; known: boolean }) {
  const word = busy || !known ? "checking…" : count === 0 ? "fits together" : `${count} to mend`;
  const state = busy || !known ? "" : count === 0 ? "good" : "bad";
  return (
    <span className={`state ${state}`} role="status">
      {word}
    </span>
  );
}

function Problems({ problems, show }: { problems: PlanProblem[]; show: (id: string) => void }) {
  if (problems.length === 0) return <p className="quiet">Nothing is wrong.</p>;
  return (
    <ul className="problems">
      {problems.map((problem, at) => (
        <li key={at}>
          {problem.node && <button onClick={() => show(problem.node!)}>{problem.node}</button>}
          <span>
            {problem.message}
            {problem.help && <span className="quiet"> {problem.help}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
