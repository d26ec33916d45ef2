import { GAP, HEIGHT, PITCH, WIDTH, type Place, type Places } from "./layout";
import type { Drawn } from "./picture";

/** A way along which rows flow, from what is read to who reads it. */
export interface Line {
  from: string;
  to: string;
  /** The part whose rows flow here. */
  source: number;
  path: Path2D;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

type Point = [x: number, y: number];

/** Pixels between the ends of two lines at one item. */
const PORTS = 30;
/** Room beside an item that a line passes. */
const ROOM = (WIDTH + GAP) / 2;

/**
 * Where a line passes the rows between its ends: straight down through the gaps between items, and
 * where no gap goes through, from gap to gap.
 */
export function bends(from: Place, to: Place, rows: Map<number, number[]>): Point[] {
  const between = Array.from({ length: Math.max(0, to.row - from.row - 1) }, (_, index) => from.row + 1 + index);
  const taken = between.flatMap((row) => rows.get(row) ?? []);
  const way = (x: number) => Math.abs(x - from.x) + 1.01 * Math.abs(x - to.x);
  const through = gap(taken, [from.x, to.x], way);
  if (through !== undefined) return between.map((row) => [through, row]);
  return between.map((row) => {
    const straight = from.x + ((to.x - from.x) * (row - from.row)) / (to.row - from.row);
    return [gap(rows.get(row) ?? [], [straight], (x) => Math.abs(x - straight)) ?? straight, row];
  });
}

/** The gap of the least cost; the wishes are tried as well as both sides of every item. */
function gap(taken: number[], wishes: number[], cost: (x: number) => number): number | undefined {
  const free = (x: number) => taken.every((other) => Math.abs(other - x) >= ROOM - 1);
  return [...wishes, ...taken.flatMap((x) => [x - ROOM, x + ROOM])].sort((a, b) => cost(a) - cost(b)).find(free);
}

export function rowsOf(places: Places): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  for (const { x, row } of Object.values(places)) rows.set(row, [...(rows.get(row) ?? []), x]);
  return rows;
}

/** All lines of a picture. */
export function linesOf(drawn: Drawn[], places: Places): Line[] {
  const rows = rowsOf(places);
  return drawn.flatMap((each) => {
    const to = places[each.id];
    if (!to) return [];
    // Lines arrive in the order in which they come from the left, so that they do not cross.
    const inputs = each.inputs.filter((input) => places[input]).sort((a, b) => places[a]!.x - places[b]!.x);
    return inputs.map((input, index) => {
      const port = { x: to.x + (index - (inputs.length - 1) / 2) * PORTS, row: to.row };
      const from = places[input]!;
      return lineOf(input, each.id, from, port, bends(from, port, rows));
    });
  });
}

function lineOf(from: string, to: string, start: Place, end: Place, through: Point[]): Line {
  const path = new Path2D();
  let [x, y] = [start.x, start.row * PITCH + HEIGHT];
  path.moveTo(x, y);
  for (const [nextX, row] of [...through, [end.x, end.row] as Point]) {
    const nextY = row * PITCH;
    const middle = (y + nextY) / 2;
    path.bezierCurveTo(x, middle, nextX, middle, nextX, nextY);
    if (row !== end.row) path.lineTo(nextX, nextY + HEIGHT);
    [x, y] = [nextX, nextY + HEIGHT];
  }
  const xs = [start.x, end.x, ...through.map(([each]) => each)];
  return {
    from,
    to,
    source: Number(from),
    path,
    left: Math.min(...xs),
    right: Math.max(...xs),
    top: start.row * PITCH + HEIGHT,
    bottom: end.row * PITCH,
  };
}

/** How wide a line is: it follows the logarithm of the rate. */
export const widthOf = (rate: number): number => (rate > 0 ? Math.min(1.25 + 1.1 * Math.log10(1 + rate), 7) : 1.25);

/** How fast its dashes go, in pixels a second; not at all if no rows come. */
export const speedOf = (rate: number): number => (rate > 0 ? Math.min(14 + 22 * Math.log10(1 + rate), 140) : 0);
