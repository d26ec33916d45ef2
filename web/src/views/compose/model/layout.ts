import { Graph, layout } from "@dagrejs/dagre";
import { move } from "./edits";
import type { Draft } from "./draft";

export type Sizes = Readonly<Record<string, { width: number; height: number }>>;
/** The size of a part that was not drawn yet. */
export const USUAL = { width: 250, height: 120 };
/** Between a part and the next one below it. */
export const GAP = 46;

/** Puts the parts in layers, from the sources at the top to the result at the bottom. */
export function arrange(draft: Draft, sizes: Sizes = {}): Draft {
  const graph = new Graph().setGraph({ rankdir: "TB", nodesep: 48, ranksep: GAP, marginx: 20, marginy: 20 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const part of draft.parts) graph.setNode(part.id, { ...(sizes[part.id] ?? USUAL) });
  for (const part of draft.parts)
    for (const input of part.inputs) if (input) graph.setEdge(input, part.id);
  layout(graph, { constraints: besides(draft) });
  return move(draft, Object.fromEntries(draft.parts.map((part) => [part.id, corner(graph.node(part.id))])));
}

/** What flows into the left place comes from the left, so that lines do not cross. */
function besides(draft: Draft): { left: string; right: string }[] {
  const pairs = new Map<string, { left: string; right: string }>();
  for (const { inputs } of draft.parts)
    inputs.slice(1).forEach((right, at) => {
      const left = inputs[at];
      const isNew = left && right && left !== right && !pairs.has(`${right} ${left}`);
      if (isNew) pairs.set(`${left} ${right}`, { left, right });
    });
  return [...pairs.values()];
}

/** Dagre speaks of middles, the canvas of corners. */
function corner({ x, y, width, height }: { x: number; y: number; width: number; height: number }) {
  return { x: Math.round(x - width / 2), y: Math.round(y - height / 2) };
}
