import { useEffect, useState } from "react";
import { get, Refused } from "../../api/client";
import type { Graph, Measures, Problem } from "../../api/types";
import { live } from "../../live/socket";
import { measures } from "./measures";

/** The structure of the graph; its measures go into their store and render nothing. */
export function useGraph(): { graph: Graph | null; problem: Problem | null } {
  const [graph, setGraph] = useState<Graph | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const take = (found: Graph) => {
      measures.keep(new Set(found.nodes.map((node) => node.id)));
      measures.take(found.measures);
      setGraph(found);
      setProblem(null);
    };
    get<Graph>("graph", stop.signal)
      .then(take)
      .catch((error) => error instanceof Refused && setProblem(error.problem));
    const off = [
      live.subscribe("graph", (data) => take(data as Graph)),
      live.subscribe("measures", (data) => measures.take(data as Measures)),
    ];
    return () => {
      stop.abort();
      off.forEach((each) => each());
    };
  }, []);
  return { graph, problem };
}
