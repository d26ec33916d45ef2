import { useState } from "react";
import { firstErrors } from "../model/checked";
import type { PlanProblem } from "../model/contract";
import type { Checking } from "../useChecked";
import { useComposing } from "../useComposing";
import { Sql } from "./Sql";
import { Explain } from "./Explain";

type Tab = "problems" | "sql" | "explain";

interface Props {
  checking: Checking;
  show: (id: string) => void;
  /** The canvas above has more or less room. */
  resized: () => void;
}

/** What the plan means: what is wrong with it, its SQL, and how it would run. */
export function Outcome({ checking, show, resized }: Props) {
  const { draft } = useComposing();
  const [tab, setTab] = useState<Tab>("sql");
  const [isOpen, setOpen] = useState(true);
  const open = (wanted: boolean) => {
    setOpen(wanted);
    if (wanted !== isOpen) resized();
  };
  const { checked, busy } = checking;
  const isEmpty = draft.parts.length === 0;
  const errors = isEmpty ? [] : firstErrors(checked?.errors ?? []);
  const warnings = isEmpty ? [] : (checked?.warnings ?? []);
  const count = errors.length + warnings.length;
  const tabs: [Tab, string][] = [
    ["problems", count ? `Problems (${count})` : "Problems"],
    ["sql", "SQL"],
    ["explain", "Explain"],
  ];
  return (
    <section className={`outcome${isOpen ? "" : " closed"}`} aria-label="Outcome" aria-busy={busy}>
      <div className="tabs" role="tablist">
        {tabs.map(([each, title]) => (
          <button
            key={each}
            role="tab"
            id={`tab-${each}`}
            aria-selected={tab === each}
            className={each === "problems" && errors.length ? "bad" : ""}
            onClick={() => (setTab(each), open(true))}
          >
            {title}
          </button>
        ))}
        {!isEmpty && <State count={errors.length} busy={busy} known={checked !== null} />}
        <button className="fold" aria-expanded={isOpen} aria-label="Show the outcome" onClick={() => open(!isOpen)}>
          {isOpen ? "▾" : "▴"}
        </button>
      </div>
      <div className="content" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {(tab === "problems" || (tab === "sql" && errors.length > 0)) && (
          <Problems errors={errors} warnings={warnings} show={show} />
        )}
        {tab === "sql" && errors.length === 0 && <Sql checked={isEmpty ? null : checked} />}
        {tab === "explain" && <Explain plans={(!isEmpty && checked?.plans) || null} />}
      </div>
    </section>
  );
}

function State({ count, busy, known }: { count: number; busy: boolean; known: boolean }) {
  const word = busy || !known ? "checking…" : count === 0 ? "valid" : `${count} problem${count === 1 ? "" : "s"}`;
  const state = busy || !known ? "" : count === 0 ? "good" : "bad";
  return (
    <span className={`state ${state}`} role="status">
      {word}
    </span>
  );
}

interface ProblemsProps {
  errors: PlanProblem[];
  warnings: PlanProblem[];
  show: (id: string) => void;
}

function Problems({ errors, warnings, show }: ProblemsProps) {
  if (errors.length + warnings.length === 0) return <p className="quiet">No problems.</p>;
  return (
    <ul className="problems" aria-label="Problems">
      {[...errors, ...warnings].map((problem, at) => (
        <li key={at} className={at < errors.length ? "bad" : "warn"}>
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
