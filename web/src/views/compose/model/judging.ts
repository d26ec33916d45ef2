import type { Draft } from "./draft";

export type Boxes = Record<string, { x: number; y: number; width: number; height: number }>;
interface Line {
  from: string;
  to: string;
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

/** Inputs that lie to the right of the input after them. */
export function inversions(draft: Draft, boxes: Boxes): number {
  const pairs = draft.parts.flatMap(({ inputs }) => inputs.slice(1).map((right, at) => [inputs[at], right]));
  return pairs.filter(([left, right]) => left && right && left !== right && boxes[left]!.x > boxes[right]!.x).length;
}

/** Connections, as straight lines, that cross each other. */
export function crossings(draft: Draft, boxes: Boxes): number {
  const all = lines(draft, boxes);
  return all.flatMap((one, at) => all.slice(at + 1).filter((other) => doCross(one, other))).length;
}

/** Connections that run behind operators which they do not belong to. */
export function overruns(draft: Draft, boxes: Boxes): number {
  const all = lines(draft, boxes);
  return Object.entries(boxes).flatMap(([id, box]) =>
    all.filter((line) => line.from !== id && line.to !== id && isBehind(line, box)),
  ).length;
}

function lines(draft: Draft, boxes: Boxes): Line[] {
  return draft.parts.flatMap(({ id, inputs }) =>
    inputs.flatMap((from, at) => {
      if (!from) return [];
      const [start, end] = [boxes[from]!, boxes[id]!];
      const share = (at + 1) / (inputs.length + 1);
      const [x1, y1] = [start.x + start.width / 2, start.y + start.height];
      return [{ from, to: id, x1, y1, x2: end.x + end.width * share, y2: end.y }];
    }),
  );
}

const side = (line: Line, x: number, y: number): number =>
  Math.sign((line.x2 - line.x1) * (y - line.y1) - (line.y2 - line.y1) * (x - line.x1));

const doCross = (one: Line, other: Line): boolean =>
  side(one, other.x1, other.y1) * side(one, other.x2, other.y2) < 0 &&
  side(other, one.x1, one.y1) * side(other, one.x2, one.y2) < 0;

/** Whether a line is within a box at the height of its middle. */
function isBehind(line: Line, box: Boxes[string]): boolean {
  const share = (box.y + box.height / 2 - line.y1) / (line.y2 - line.y1 || 1);
  const x = line.x1 + share * (line.x2 - line.x1);
  return share > 0 && share < 1 && x > box.x && x < box.x + box.width;
}
