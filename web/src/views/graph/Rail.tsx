import { useEffect, useMemo, useRef } from "react";
import type { Graph } from "../../api/types";
import type { Queries } from "../../live/useQueries";
import { linkTo } from "../../shell/routes";
import { Legend } from "./Legend";
import { Migrations } from "./Migrations";
import { partsOf, usersOf, type Drawn } from "./picture";
import { spot } from "./spot";

interface Props {
  graph: Graph;
  drawn: Drawn[];
  queries: Queries;
  only: string;
  text: string;
  matches: ReadonlySet<string> | null;
  search: (text: string) => void;
  goToFirst: () => void;
}

/** Beside the graph: what to look for, whose parts to show, and what the signs mean. */
export function Rail({ graph, drawn, queries, only, text, matches, search, goToFirst }: Props) {
  const shared = useMemo(() => graph.nodes.filter((node) => node.queries.length > 1).length, [graph]);
  const input = useRef<HTMLInputElement>(null);
  const names = useMemo(() => namesOf(graph, drawn, matches), [graph, drawn, matches]);
  return (
    <nav className="rail" aria-label="Queries of the graph">
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          goToFirst();
        }}
      >
        <input
          ref={input}
          type="search"
          placeholder="Find operators, columns…"
          aria-label="Find parts of the graph; Enter goes to the first"
          value={text}
          onChange={(event) => search(event.target.value)}
        />
        <span className="matches quiet numbers" role="status">
          {matches && `${matches.size} found`}
        </span>
      </form>
      <p className="counts quiet numbers">
        {graph.nodes.length} parts, {shared} of them shared
      </p>
      <ul className="names">
        <li>
          <a href={linkTo("graph")} aria-current={only === "" ? "true" : undefined}>
            All queries
          </a>
        </li>
        {names.map((query) => (
          <Name key={query} query={query} asks={queries.get(query)?.sql ?? ""} drawn={drawn} current={query === only} />
        ))}
      </ul>
      <Migrations migrations={graph.migrations} />
      <Legend />
    </nav>
  );
}

/** The queries, or those that a search is about: by their own names, or by their parts. */
function namesOf(graph: Graph, drawn: Drawn[], matches: ReadonlySet<string> | null): string[] {
  const all = graph.roots.map(({ query }) => query);
  if (!matches) return all;
  const users = new Set(drawn.filter((each) => matches.has(each.id)).flatMap(usersOf));
  return all.filter((query) => users.has(query));
}

interface NameProps {
  query: string;
  asks: string;
  drawn: Drawn[];
  current: boolean;
}

function Name({ query, asks, drawn, current }: NameProps) {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (current) item.current!.scrollIntoView({ block: "nearest" });
  }, [current]);
  const point = () => spot.point(partsOf(drawn, query));
  const leave = () => spot.point(null);
  return (
    // A finger that has tapped is still "over" the name: only a mouse points.
    <li ref={item} onPointerEnter={(event) => event.pointerType === "mouse" && point()} onPointerLeave={leave} onFocus={point} onBlur={leave}>
      <a href={linkTo("graph", current ? "" : query)} aria-current={current ? "true" : undefined}>
        {query}
      </a>
      <span className="asks quiet" title={asks}>
        {asks.replace(/\s+/g, " ")}
      </span>
    </li>
  );
}
