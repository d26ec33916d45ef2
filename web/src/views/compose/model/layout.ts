import { Graph, layout } from "@dagrejs/dagre";
import { crossings, inversions, overruns, type Boxes } from "./judging";
import { move } from "./edits";
import type { Draft } from "./draft";

export type Sizes = Readonly<Record<string, { width: number; height: number }>>;
/** The size of a part that was not drawn yet. */
export const USUAL = { width: 250, height: 120 };
/** Between a part and the next one below it. */
export const GAP = 46;

/**
 * Puts the parts in layers, from the sources at the top to the result at the bottom. Dagre does not
 * know that inputs have an order: of some ways to lay them out, the one that reads best is taken.
 */
export function arrange(draft: Draft, sizes: Sizes = {}): Draft {
  const plain = laidOut(draft, sizes, []);
  const ways = [plain, mirrored(plain), laidOut(draft, sizes, besides(draft))];
  const costs = ways.map((boxes) => inversions(draft, boxes) + crossings(draft, boxes) + 2 * overruns(draft, boxes));
  return move(draft, ways[costs.indexOf(Math.min(...costs))]!);
}

type Constraints = { left: string; right: string }[];

function laidOut(draft: Draft, sizes: Sizes, constraints: Constraints): Boxes {
  const graph = new Graph().setGraph({ rankdir: "TB", nodesep: 48, ranksep: GAP });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const part of draft.parts) graph.setNode(part.id, { ...(sizes[part.id] ?? USUAL) });
  for (const part of draft.parts)
    for (const input of part.inputs) if (input) graph.setEdge(input, part.id);
  layout(graph, { constraints });
  // Dagre speaks of middles, the canvas of corners.
  const corner = ({ x, y, width, height }: Boxes[string]) => ({
    x: Math.round(x - width / 2), y: Math.round(y - height / 2), width, height,
  });
  return Object.fromEntries(draft.parts.map((part) => [part.id, corner(graph.node(part.id) as Boxes[string])]));
}

function mirrored(boxes: Boxes): Boxes {
  return Object.fromEntries(Object.entries(boxes).map(([id, box]) => [id, { ...box, x: -box.x - box.width }]));
}

/** What flows into the left place should come from the left. */
function besides(draft: Draft): Constraints {
  const pairs = new Map<string, Constraints[number]>();
  for (const { inputs } of draft.parts)
    inputs.slice(1).forEach((right, at) => {
      const left = inputs[at];
      const isNew = left && right && left !== right && !pairs.has(`${right} ${left}`);
      if (isNew) pairs.set(`${left} ${right}`, { left, right });
    });
  return [...pairs.values()];
}
