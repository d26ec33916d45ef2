import { useMemo, useRef } from "react";
import type { Domain } from "../../api/types";
import { HEIGHT, PITCH, WIDTH, type Places } from "./layout";
import type { PartNode, QueryNode } from "./Part";
import { usersOf, type Drawn } from "./picture";
import type { Queries } from "../../live/useQueries";
import { inReadingOrder } from "./walk";

export type FlowNode = PartNode | QueryNode;

const NAME_HEIGHT = 34;

/** Nodes for the canvas, in reading order; those that say the same as before are the same objects. */
export function useFlowNodes(drawn: Drawn[], places: Places, open: string | null, queries: Queries): FlowNode[] {
  const known = useRef(new Map<string, { text: string; node: FlowNode }>());
  return useMemo(() => {
    const next = inReadingOrder(drawn, places).map((each) => {
      const node = flowNode(each, places, each.id === open, queries.get(usersOf(each)[0] ?? "")?.domain ?? null);
      const text = JSON.stringify(node);
      const before = known.current.get(each.id);
      return before?.text === text ? before : { text, node };
    });
    known.current = new Map(next.map((each) => [each.node.id, each]));
    return next.map((each) => each.node);
  }, [drawn, places, open, queries]);
}

function flowNode(each: Drawn, places: Places, selected: boolean, domain: Domain): FlowNode {
  const { x, row } = places[each.id]!;
  const height = each.type === "part" ? HEIGHT : NAME_HEIGHT;
  const room = {
    id: each.id,
    position: { x: x - WIDTH / 2, y: row * PITCH },
    width: WIDTH,
    height,
    measured: { width: WIDTH, height },
    selected,
  };
  if (each.type === "query") return { ...room, type: "query", data: { query: each.query } };
  return { ...room, type: "part", data: { node: each.node, then: each.then, tint: each.tint, domain } };
}
