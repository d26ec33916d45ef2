import { useState } from "react";
import { call, part, post, Refused } from "../../../api/client";
import type { Problem, QueryEntry } from "../../../api/types";
import { Trouble } from "../../../parts/Help";
import { linkTo } from "../../../shell/routes";
import type { CheckedPlan } from "../model/contract";
import { toComposed, type Draft } from "../model/draft";
import { useComposing } from "../useComposing";

interface Started {
  query: QueryEntry;
  /** What is to be known of it, as that a restart forgets it. */
  note: string | null;
}

/** Gives the plan a name and runs it; a query that has this name gets it as its new definition. */
export function RunForm() {
  const { draft, dispatch, checked, queries } = useComposing();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [running, setRunning] = useState<Started | null>(null);
  const [busy, setBusy] = useState(false);
  const name = draft.name.trim();
  const isReady = name !== "" && draft.parts.length > 0 && (checked?.complete ?? false);
  const replaces = queries.includes(name) && draft.level === "logical";
  const close = () => {
    setProblem(null);
    setRunning(null);
  };
  async function run() {
    setBusy(true);
    close();
    try {
      setRunning(await (replaces ? replace(name, checked!.sql!) : start(name, draft)));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.problem);
    } finally {
      setBusy(false);
    }
  }
  return (
    <form
      className="run"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void run();
      }}
    >
      <input
        aria-label="Name of the query"
        placeholder="name of the query"
        value={draft.name}
        onChange={({ target }) => {
          setRunning(null);
          dispatch({ type: "edit", change: (now) => ({ ...now, name: target.value }), topic: "name" });
        }}
      />
      <button type="submit" className="primary" disabled={!isReady || busy} title={lacking(name, checked)}>
        {busy ? "Starting…" : replaces ? "Replace" : "Run"}
      </button>
      {(problem || running) && (
        <div className="said">
          {problem && <Trouble problem={problem} />}
          {running && (
            <p className="done" role="status">
              {running.query.name} runs. <a href={linkTo("queries", running.query.name)}>Show results</a>
              {running.note && <span className="quiet"> {running.note}</span>}
            </p>
          )}
          <button type="button" className="ghost small" aria-label="Close" onClick={close}>
            ✕
          </button>
        </div>
      )}
    </form>
  );
}

const start = (name: string, draft: Draft): Promise<Started> =>
  post<Started>("compose/run", { name, plan: toComposed(draft) });

/** While it runs, and without a gap in its answers. */
async function replace(name: string, sql: string): Promise<Started> {
  const query = await call<QueryEntry>("PATCH", `queries/${part(name)}`, { sql });
  return { query, note: "The query has this plan now." };
}

/** What must be done before the plan can run. */
function lacking(name: string, checked: CheckedPlan | null): string {
  if (!checked?.complete) return "The plan has problems; fix them first";
  return name ? "" : "Give it a name first";
}
