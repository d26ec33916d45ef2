import type { EditorView } from "@codemirror/view";
import { useState, type RefObject } from "react";
import { post, Refused } from "../../../api/client";
import type { Catalog, Checked, Problem, QueryEntry, Ran } from "../../../api/types";
import { Trouble } from "../../../parts/Help";
import { linkTo } from "../../../shell/routes";
import { DraftPlan } from "../plan/PlanTab";
import { useDraft } from "./drafts";
import { Examples } from "./Examples";
import { freeName, unnamedQuery } from "./naming";
import { Problems, Verdict } from "./Problems";
import { goTo, replaceText, SqlEditor } from "./SqlEditor";

interface Props {
  catalog: Catalog | null;
  queries: QueryEntry[];
  handle: RefObject<EditorView | null>;
  done: () => void;
}

/** Where statements are written, checked and run, and queries are born. */
export function Workbench({ catalog, queries, handle, done }: Props) {
  const [draft, keep] = useDraft("");
  const [checked, setChecked] = useState<Checked | null>(null);
  const [chosen, setChosen] = useState("");
  const [answer, setAnswer] = useState<{ ran: Ran[]; problem: Problem | null }>({ ran: [], problem: null });
  const [busy, setBusy] = useState(false);
  const [planned, setPlanned] = useState(false);
  const text = draft ?? "";
  const unnamed = unnamedQuery(text, checked);
  const name = chosen || freeName(queries.map((each) => each.name));

  async function run() {
    const sql = handle.current?.state.doc.toString() ?? text;
    if (!sql.trim() || busy) return;
    setBusy(true);
    try {
      await (unnamed ? startNamed(name, unnamed, setAnswer) : runScript(sql, setAnswer));
      if (unnamed) keep(null); // it lives on as the text of the query
    } catch (error) {
      if (error instanceof Refused) setAnswer({ ran: [], problem: error.problem });
    }
    setBusy(false);
    done();
  }
  return (
    <section className="q-bench" aria-label="New query">
      <div className="q-benchbar">
        <h1>New query</h1>
        <Verdict checked={checked} empty={!text.trim()} />
        <span className="q-fill" />
        {unnamed && (
          <label className="q-name">
            <span>Name</span>
            <input value={chosen} placeholder={name} onChange={(event) => setChosen(event.target.value.trim())} spellCheck={false} />
          </label>
        )}
        {unnamed && !unnamed.before.trim() && (
          <button aria-pressed={planned} onClick={() => setPlanned(!planned)}>
            Plan
          </button>
        )}
        <button className="primary" onClick={run} disabled={busy || !text.trim()} title="Ctrl+Enter">
          {unnamed ? "Start query" : "Run"} <kbd>{KEY}</kbd>
        </button>
      </div>
      <SqlEditor
        label="SQL" text={text} catalog={catalog} handle={handle} changed={keep} checked={setChecked} run={run}
        hint="SELECT … FROM a stream WINDOW(RANGE 1 MINUTE)"
      />
      <div className="q-below">
        <Problems checked={checked} go={(problem) => handle.current && goTo(handle.current, problem)} />
        {answer.problem && <Trouble problem={answer.problem} />}
        <Output ran={answer.ran} />
        {planned && unnamed && !unnamed.before.trim() && <DraftPlan sql={unnamed.select} />}
        {!text.trim() && (
          <Examples catalog={catalog} load={(sql) => handle.current && replaceText(handle.current, sql)} />
        )}
      </div>
    </section>
  );
}

const KEY = navigator.platform.startsWith("Mac") ? "⌘⏎" : "Ctrl ⏎";
type Answer = (answer: { ran: Ran[]; problem: Problem | null }) => void;

async function startNamed(name: string, { before, select }: { before: string; select: string }, tell: Answer) {
  if (before.trim()) tell({ ran: (await post<{ results: Ran[] }>("statements", { sql: before })).results, problem: null });
  await post("queries", { name, sql: select, start: true });
  location.hash = linkTo("queries", name);
}

async function runScript(sql: string, tell: Answer) {
  const { results } = await post<{ results: Ran[] }>("statements", { sql });
  tell({ ran: results, problem: null });
}

function Output({ ran }: { ran: Ran[] }) {
  if (ran.length === 0) return null;
  return (
    <ol className="q-ran" aria-label="Done">
      {ran.map((each, n) => (
        <li key={n}>
          <span className="q-sign good" aria-hidden>
            ✓
          </span>
          {each.message || each.kind.replaceAll("_", " ")}
          {each.name && each.kind.endsWith("_query") && each.kind !== "drop_query" && (
            <a href={linkTo("queries", each.name)}>Open {each.name}</a>
          )}
        </li>
      ))}
    </ol>
  );
}
