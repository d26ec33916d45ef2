import type { EditorView } from "@codemirror/view";
import { useState, type RefObject } from "react";
import { post, Refused } from "../../../api/client";
import type { Catalog, Problem, QueryEntry, Ran } from "../../../api/types";
import { Trouble } from "../../../parts/Help";
import { linkTo } from "../../../shell/routes";
import { couldBePartial } from "../actions";
import { DraftPlan } from "../plan/PlanTab";
import { check, type Found } from "./checking";
import { useDraft } from "./drafts";
import { Examples } from "./Examples";
import { freeName, unnamedQuery, type Unnamed } from "./naming";
import { Output } from "./Output";
import { Problems, Verdict } from "./Problems";
import { replaceText, SqlEditor } from "./SqlEditor";

interface Props {
  catalog: Catalog | null;
  queries: QueryEntry[];
  handle: RefObject<EditorView | null>;
  done: () => void;
}

interface Answer {
  ran: Ran[];
  problem: Problem | null;
}

/** Where statements are written, checked and run, and queries are born. */
export function Workbench({ catalog, queries, handle, done }: Props) {
  const [draft, keep] = useDraft("");
  const [found, setFound] = useState<Found | null>(null);
  // Of the last text without errors, so that nothing jumps about while a word is half written.
  const [unnamed, setUnnamed] = useState<Unnamed | null>(null);
  const [chosen, setChosen] = useState("");
  const [answer, setAnswer] = useState<Answer>({ ran: [], problem: null });
  const [busy, setBusy] = useState(false);
  const [planned, setPlanned] = useState(false);
  const text = draft ?? "";
  const name = chosen || freeName(queries.map((each) => each.name));
  const plannable = unnamed && !unnamed.before.trim() ? unnamed.select : null;

  function checked(news: Found | null) {
    setFound(news);
    if (news && news.errors.length === 0) setUnnamed(unnamedQuery(news));
  }
  async function run(partial = false) {
    const sql = handle.current?.state.doc.toString() ?? text;
    if (!sql.trim() || busy) return;
    setBusy(true);
    try {
      // What was checked may be older than what is written.
      const query = unnamedQuery(found?.sql === sql ? found : await check(sql));
      setAnswer(query ? await startNamed(name, query, partial) : await runScript(sql));
      if (query) keep(null); // it lives on as the text of the query
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
        <Verdict checked={found} empty={!text.trim()} />
        <span className="q-fill" />
        {unnamed && (
          <label className="q-name">
            <span>Name</span>
            <input
              value={chosen}
              placeholder={name}
              onChange={(event) => setChosen(event.target.value.trim())}
              spellCheck={false}
            />
          </label>
        )}
        {plannable && (
          <button aria-pressed={planned} onClick={() => setPlanned(!planned)}>
            Plan
          </button>
        )}
        <button className="primary" onClick={() => run()} disabled={busy || !text.trim()} title="Ctrl+Enter">
          {unnamed ? "Start query" : "Run"} <kbd>{KEY}</kbd>
        </button>
      </div>
      <SqlEditor
        label="SQL"
        text={text}
        catalog={catalog}
        handle={handle}
        changed={keep}
        checked={checked}
        run={run}
        hint="SELECT … FROM a stream WINDOW(RANGE 1 MINUTE)"
      />
      <div className={`q-below ${!text.trim() ? "q-first" : planned && plannable ? "q-planned" : ""}`}>
        <Problems checked={found} handle={handle} />
        {answer.problem && <Trouble problem={answer.problem} />}
        {unnamed && couldBePartial(answer.problem) && (
          <button onClick={() => run(true)}>Start with rows from now on</button>
        )}
        <Output ran={answer.ran} />
        {planned && plannable && <DraftPlan sql={plannable} />}
        {!text.trim() && catalog && (
          <Examples catalog={catalog} load={(sql) => handle.current && replaceText(handle.current, sql)} />
        )}
      </div>
    </section>
  );
}

const KEY = navigator.platform.startsWith("Mac") ? "⌘⏎" : "Ctrl ⏎";

async function startNamed(name: string, { before, select }: Unnamed, partial: boolean): Promise<Answer> {
  if (before.trim()) await runScript(before);
  await post("queries", { name, sql: select, start: true, partial });
  location.hash = linkTo("queries", name);
  return { ran: [], problem: null };
}

async function runScript(sql: string): Promise<Answer> {
  const { results } = await post<{ results: Ran[] }>("statements", { sql });
  return { ran: results, problem: null };
}
