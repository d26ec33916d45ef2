import type { EditorView } from "@codemirror/view";
import { useState, type RefObject } from "react";
import type { Catalog, Problem, QueryEntry } from "../../../api/types";
import { duration, instant } from "../../../parts/format";
import { Trouble } from "../../../parts/Help";
import { alter, attempt, optimize } from "../actions";
import type { Found } from "../editor/checking";
import { useDraft } from "../editor/drafts";
import { Problems, Verdict } from "../editor/Problems";
import { replaceText, SqlEditor } from "../editor/SqlEditor";

interface Props {
  query: QueryEntry;
  catalog: Catalog | null;
  handle: RefObject<EditorView | null>;
  changed: () => void;
}

/** The text of a query; another one replaces it while it runs, without a gap. */
export function SqlTab({ query, catalog, handle, changed }: Props) {
  const [draft, keep] = useDraft(query.name);
  const [checked, setChecked] = useState<Found | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const text = draft ?? query.sql;
  const edited = text.trim() !== query.sql.trim();

  async function act(action: Promise<unknown>) {
    const found = await attempt(action);
    setProblem(found);
    if (!found) keep(null);
    changed();
  }
  function change() {
    const sql = handle.current?.state.doc.toString() ?? text;
    if (sql.trim() !== query.sql.trim()) void act(alter(query.name, sql));
  }
  return (
    <div className="q-sqltab">
      <div className="q-benchbar">
        <Verdict checked={checked} empty={!text.trim()} />
        <span className="q-fill" />
        {edited && (
          <button onClick={() => handle.current && (replaceText(handle.current, query.sql), keep(null))}>
            Undo changes
          </button>
        )}
        <button onClick={() => act(optimize(query.name))} disabled={query.state !== "running" || edited}>
          Find a better plan
        </button>
        <button className="primary" onClick={change} disabled={!edited || Boolean(checked?.errors.length)}>
          Change the query
        </button>
      </div>
      <SqlEditor
        label={`SQL of ${query.name}`}
        text={text}
        catalog={catalog}
        handle={handle}
        changed={keep}
        checked={setChecked}
        run={change}
      />
      <div className="q-below">
        <Migration query={query} />
        <Problems checked={checked} handle={handle} />
        {problem && <Trouble problem={problem} />}
      </div>
    </div>
  );
}

function Migration({ query }: { query: QueryEntry }) {
  const { migration, domain } = query;
  return (
    <p role="status" aria-label="Migration" className="q-migration numbers">
      {migration && (
        <>
          <strong>Migrating without a gap.</strong> The new plan answers from {instant(migration.split, domain)}; until
          then the old one does: {duration(migration.time_left, domain)} and {migration.old_rows.toLocaleString("en")}{" "}
          rows are left.
        </>
      )}
    </p>
  );
}
