import type { Column, Value } from "../../../api/types";
import { isNumber } from "../editor/examples";
import { holds, type Held, type Known } from "./intervals";
import { shown } from "./rows";

/** A row drawn as a line from where it begins to where it ends, at the height of its value. */
export interface Bar {
  from: number;
  /** Infinity where the end is open. */
  to: number;
  y: number;
  held: Held;
}

export interface Series {
  key: string;
  bars: Bar[];
}

export interface Picture {
  kind: "steps" | "lanes";
  series: Series[];
  /** Bars of all other series, to be drawn in the background. */
  rest: Bar[];
  others: number;
  /** The lowest and the highest value, over what is visible. */
  low: number;
  high: number;
}

export interface Window {
  start: number;
  end: number;
}

/** Which columns to draw: the height, and what tells series apart. */
export interface Choice {
  value: number | null;
  by: number[];
}

/** A measure with a fraction is rather a value than an integer, which often is the name of a thing. */
export function defaultChoice(columns: Column[]): Choice {
  const numbers = columns.flatMap((column, n) => (isNumber(column) ? [n] : []));
  const words = columns.flatMap((column, n) => (isNumber(column) ? [] : [n]));
  const fractions = numbers.filter((n) => !/INT/.test(columns[n]!.type));
  const value = fractions.at(-1) ?? numbers.at(-1) ?? null;
  if (value === null) return { value, by: words };
  return { value, by: words.length ? words : value === 0 ? [] : [0] };
}

const meets = (each: Held, { start, end }: Window): boolean =>
  each.from <= end && (each.to === null || each.to > start);

function barOf(held: Held, y: number): Bar {
  return { from: held.from, to: held.to ?? Infinity, y, held };
}

const nameOf = (held: Held, by: number[]): string => by.map((n) => shown(held.row[n] ?? null)).join(" · ");

function grouped(held: readonly Held[], by: number[]): Map<string, Held[]> {
  const groups = new Map<string, Held[]>();
  for (const each of held) {
    const name = nameOf(each, by);
    const known = groups.get(name);
    if (known) known.push(each);
    else groups.set(name, [each]);
  }
  return groups;
}

/** A number as the server writes it: exact ones beyond 2^53 and decimals come as text. */
function numberOf(value: Value | undefined): number | null {
  if (value === null || value === undefined || typeof value === "object" || value === "") return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** The steps of a numeric column: series by the other columns, those with the most rows first. */
export function steps(known: Known, { value, by }: Choice, window: Window, top: number): Picture {
  const visible = known.held.filter((each) => meets(each, window) && numberOf(each.row[value ?? -1]) !== null);
  const groups = [...grouped(visible, by)].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  const draw = (each: Held) => barOf(each, numberOf(each.row[value!])!);
  const series = groups.slice(0, top).map(([key, rows]) => ({ key, bars: inOrder(rows.map(draw)) }));
  // By name, for the numbers of rows change places all the time.
  series.sort((a, b) => a.key.localeCompare(b.key, "en", { numeric: true }));
  const rest = groups.slice(top).flatMap(([, rows]) => rows.map(draw));
  const all = [...series.flatMap(({ bars }) => bars), ...rest];
  const [low, high] = all.reduce(([l, h], { y }) => [Math.min(l, y), Math.max(h, y)], [Infinity, -Infinity]);
  return { kind: "steps", series, rest, others: Math.max(0, groups.length - top), low, high };
}

/** A lane for each different row, or group of rows: those that moved last, the newest above. */
export function lanes(known: Known, by: number[], window: Window, top: number): Picture {
  const groups = [
    ...grouped(
      known.held.filter((each) => meets(each, window)),
      by,
    ),
  ];
  const lastMove = (rows: Held[]) => rows.reduce((most, { from }) => Math.max(most, from), -Infinity);
  const newest = groups.sort(([a, x], [b, y]) => lastMove(y) - lastMove(x) || (a < b ? -1 : 1)).slice(0, top);
  const series = newest.map(([key, rows], lane) => ({
    key,
    bars: inOrder(rows.map((each) => barOf(each, newest.length - 1 - lane))),
  }));
  return {
    kind: "lanes",
    series,
    rest: [],
    others: Math.max(0, groups.length - top),
    low: 0,
    high: Math.max(0, newest.length - 1),
  };
}

const inOrder = (bars: Bar[]): Bar[] => bars.sort((a, b) => a.from - b.from || a.to - b.to);

/** Where one bar ends and the next begins at once, and nothing else holds: the step between them. */
export function risers(bars: Bar[]): { at: number; low: number; high: number }[] {
  const found = [];
  for (let n = 1; n < bars.length; n++) {
    const [before, after] = [bars[n - 1]!, bars[n]!];
    const alone = bars[n + 1] === undefined || bars[n + 1]!.from > after.from;
    if (before.to === after.from && before.y !== after.y && alone)
      found.push({ at: after.from, low: Math.min(before.y, after.y), high: Math.max(before.y, after.y) });
  }
  return found;
}

/** What of a series holds at an instant. */
export const valuesAt = (series: Series, at: number): Bar[] => series.bars.filter((bar) => holds(bar.held, at));
