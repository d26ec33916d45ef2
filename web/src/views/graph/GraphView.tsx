import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Empty, Trouble } from "../../parts/Help";
import { linkTo } from "../../shell/routes";
import type { Graph } from "../../api/types";
import "../../styles/graph.css";
import { Flow } from "./Flow";
import { heirs } from "./heirs";
import { Panel } from "./Panel";
import { drawnOf, found, itemsOf, type Drawn } from "./picture";
import { Rail } from "./Rail";
import { spot } from "./spot";
import { useGraph } from "./useGraph";
import { useLayout } from "./useLayout";
import { useQueries } from "../../live/useQueries";
import { Welcome } from "./Welcome";

/** The running graph; `rest` names the query of which alone the parts are shown. */
export default function GraphView({ rest }: { rest: string }) {
  const { graph, problem } = useGraph();
  if (problem && !graph)
    return (
      <div className="pad">
        <Trouble problem={problem} />
      </div>
    );
  if (!graph) return <p className="quiet pad">Loading…</p>;
  if (graph.nodes.length === 0) return <Welcome />;
  if (rest && !graph.roots.some((root) => root.query === rest)) return <NotRunning query={rest} />;
  return <Shown graph={graph} only={rest} />;
}

function NotRunning({ query }: { query: string }) {
  return (
    <Empty title={`${query} is not running`}>
      <p>
        Only running queries have parts in the graph. <a href={linkTo("queries", query)}>Open the query</a>, or{" "}
        <a href={linkTo("graph")}>show all that is running</a>.
      </p>
    </Empty>
  );
}

function Shown({ graph, only }: { graph: Graph; only: string }) {
  const [open, setOpen] = useState<string | null>(null);
  const [text, setText] = useState("");
  const [goal, setGoal] = useState<{ id: string } | null>(null);
  const drawn = useMemo(() => drawnOf(graph, only), [graph, only]);
  const items = useMemo(() => itemsOf(drawn), [drawn]);
  const matches = useMemo(() => (text.trim() ? found(drawn, text) : null), [drawn, text]);
  const queries = useQueries(graph.revision);
  const before = useRef(drawn);
  const come = useMemo(() => heirs(before.current, drawn), [drawn]);
  useEffect(() => {
    before.current = drawn;
    setOpen((id) => [...come].find(([, gone]) => gone === id)?.[0] ?? id);
  }, [drawn, come]);
  const { laid, tidy } = useLayout(only, items, come);
  useEffect(() => {
    spot.search(matches);
    return () => spot.search(null);
  }, [matches]);
  useEffect(() => spot.point(null), [only]);
  const choose = useCallback((each: Drawn | null) => {
    if (each?.type === "query") location.hash = linkTo("graph", each.query);
    else setOpen(each?.id ?? null);
  }, []);
  const shown = drawn.find((each) => each.type === "part" && each.id === open);
  const close = useCallback(() => {
    setOpen(null);
    if (open !== null) setGoal({ id: open });
  }, [open]);
  useEscape(close, open !== null);
  const goToFirst = () => {
    const first = matches?.values().next().value;
    if (first !== undefined) setGoal({ id: first });
  };
  return (
    <div className="graph">
      <Rail {...{ graph, drawn, queries, only, text, matches, goToFirst }} search={setText} />
      <div className="stage">
        {laid && laid.picture === only && (
          <Flow picture={only} drawn={drawn} places={laid.places} queries={queries} open={open} goal={goal} choose={choose} tidy={tidy} />
        )}
        {shown?.type === "part" && (
          <Panel node={shown.node} then={shown.then} query={queries.get(shown.node.queries[0] ?? "")} close={close} />
        )}
      </div>
    </div>
  );
}

/** Escape closes what is open, wherever the keyboard is. */
function useEscape(close: () => void, isOpen: boolean): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => event.key === "Escape" && close();
    if (isOpen) addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [close, isOpen]);
}
