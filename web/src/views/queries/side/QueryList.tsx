import { memo, useState } from "react";
import type { Problem, QueryEntry } from "../../../api/types";
import { short } from "../../../parts/format";
import { Trouble } from "../../../parts/Help";
import { linkTo } from "../../../shell/routes";
import { Plus } from "../icons";
import { Actions } from "../query/Actions";

interface Props {
  queries: QueryEntry[] | null;
  chosen: string;
  changed: () => void;
}

/** All queries by name: what they do, and what can be done with them. */
export function QueryList({ queries, chosen, changed }: Props) {
  const [wanted, setWanted] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const byName = [...(queries ?? [])].sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  const shown = byName.filter((each) => matches(each, wanted));
  const done = (found: Problem | null) => {
    setProblem(found);
    changed();
  };
  return (
    <section className="q-list" aria-label="Queries">
      <div className="q-head">
        <h2>Queries</h2>
        <a className="button q-small" href={linkTo("queries")} aria-current={chosen ? undefined : "page"}>
          <Plus /> New
        </a>
      </div>
      <input
        type="search"
        aria-label="Filter queries"
        placeholder="Filter by name, state or text"
        value={wanted}
        onChange={(event) => setWanted(event.target.value)}
      />
      {problem && <Trouble problem={problem} />}
      <ul>
        {shown.map((each) => (
          <Row key={each.name} query={each} chosen={each.name === chosen} done={done} />
        ))}
      </ul>
      {queries?.length === 0 && <p className="quiet q-none">None yet: write one, or load an example.</p>}
      {queries !== null && queries.length > 0 && shown.length === 0 && <p className="quiet q-none">No match.</p>}
    </section>
  );
}

function matches(query: QueryEntry, wanted: string): boolean {
  const text = `${query.name} ${query.state} ${query.sql}`.toLowerCase();
  return wanted
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

interface RowProps {
  query: QueryEntry;
  chosen: boolean;
  done: (problem: Problem | null) => void;
}

// All queries are told anew after every tick, and most have changed nothing that is shown.
const same = (a: RowProps, b: RowProps): boolean =>
  a.chosen === b.chosen &&
  (["state", "rows_out", "error", "sql"] as const).every((each) => a.query[each] === b.query[each]);

const Row = memo(function Row({ query, chosen, done }: RowProps) {
  return (
    <li className={chosen ? "chosen" : ""}>
      <a href={linkTo("queries", query.name)} aria-current={chosen ? "page" : undefined} title={query.sql}>
        <span className={`q-dot ${query.state}`} aria-hidden />
        <span className="q-rowname">{query.name}</span>
        <span className="q-rowfacts numbers">
          <span className="q-hidden">{query.state}, </span>
          {query.state === "running" || query.rows_out ? `${short(query.rows_out)} rows` : query.state}
        </span>
      </a>
      <Actions query={query} done={done} />
      {query.error && (
        <p className="q-reason" title={query.error}>
          {query.error}
        </p>
      )}
    </li>
  );
}, same);
