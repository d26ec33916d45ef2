import type { Column, Domain, Table, Value } from "../../../api/types";

/** A row and the time in which it holds; an open end is null. */
export interface Held {
  readonly row: Value[];
  readonly key: string;
  readonly from: number;
  readonly to: number | null;
}

/** What is known of a result: rows with their intervals, up to the instant where all is known. */
export interface Known {
  columns: Column[];
  domain: Domain;
  held: readonly Held[];
  completeUntil: number | null;
  /** From this instant on, all rows are here; of earlier ones, some were left out. */
  wholeFrom: number;
}

export const NOTHING: Known = { columns: [], domain: null, held: [], completeUntil: null, wholeFrom: -Infinity };

/** More than a person looks at, and few enough to draw four times a second. */
export const MOST = 20_000;

/** Adds rows that came, and lets those go on that were known already; what has ended by then is no news. */
export function added(known: Known, table: Table, most = MOST): Known {
  const held = [...known.held];
  const until = known.completeUntil ?? -Infinity;
  const growing = new Growing(held, until);
  table.rows.forEach((row, n) => {
    const [from, to] = [table.valid_from[n]!, table.valid_to[n] ?? null];
    if (to !== null && to < until) return;
    const key = JSON.stringify(row);
    const place = growing.take(key, from) ?? held.length;
    held[place] = { row, key, from: held[place]?.from ?? from, to };
    growing.ended(key, to, place);
  });
  const { columns, domain } = table;
  const completeUntil = table.complete_until === null ? null : Math.max(until, table.complete_until);
  const wholeFrom = table.truncated ? Infinity : known.wholeFrom;
  return shortened({ columns, domain, held, completeUntil, wholeFrom }, most);
}

/** Without the rows that ended first, if there are too many. */
function shortened(known: Known, most: number): Known {
  if (known.held.length <= most) return known;
  const byEnd = [...known.held].sort((a, b) => end(a) - end(b));
  const gone = byEnd.length - Math.floor(most * 0.8);
  return { ...known, held: byEnd.slice(gone), wholeFrom: Math.max(known.wholeFrom, end(byEnd[gone - 1]!)) };
}

const end = (each: Held): number => each.to ?? Infinity;

/**
 * Which of the known rows a new one goes on from: an equal one that ends where it begins, for
 * answers are cut where they were complete, or one that begins with it and now ends later. Equal
 * rows may hold several times; each goes on once.
 */
class Growing {
  private readonly starts = new Map<string, number[]>();
  private readonly ends = new Map<string, number[]>();

  constructor(
    private readonly held: readonly Held[],
    completeUntil: number,
  ) {
    held.forEach(({ key, from, to }, place) => {
      if (to !== null && to < completeUntil) return; // it has ended for good
      put(this.starts, `${from} ${key}`, place);
      put(this.ends, `${to} ${key}`, place);
    });
  }

  take(key: string, from: number): number | undefined {
    const again = this.starts.get(`${from} ${key}`)?.shift();
    if (again === undefined) return this.ends.get(`${from} ${key}`)?.shift();
    const end = `${this.held[again]!.to} ${key}`;
    this.ends.set(
      end,
      (this.ends.get(end) ?? []).filter((place) => place !== again),
    );
    return again;
  }

  ended(key: string, to: number | null, place: number): void {
    put(this.ends, `${to} ${key}`, place);
  }
}

function put(lists: Map<string, number[]>, key: string, place: number): void {
  const known = lists.get(key);
  if (known) known.push(place);
  else lists.set(key, [place]);
}

export const holds = (each: Held, at: number): boolean => each.from <= at && (each.to === null || at < each.to);

/** The rows that hold at an instant. */
export const snapshotAt = (held: readonly Held[], at: number): Held[] => held.filter((each) => holds(each, at));

/** The newest instant of which all is known; without progress, the newest of which anything is known. */
export function latest(known: Known): number | null {
  if (known.completeUntil === 0) return null; // time has not begun
  if (known.completeUntil !== null) return known.completeUntil - 1;
  return known.held.reduce<number | null>((most, { from }) => Math.max(most ?? from, from), null);
}

/** From where to where anything is known. */
export function span(known: Known): [number, number] | null {
  const last = latest(known);
  if (last === null) return null;
  const first = known.held.reduce((least, { from }) => Math.min(least, from), last);
  return [first, last];
}

/** Whether rows hold for one instant each: a snapshot of them is nearly always empty. */
export function momentary({ held }: Known): boolean {
  const some = held.slice(-50);
  return some.length > 0 && some.every(({ from, to }) => to === from + 1);
}

export interface Change {
  at: number;
  sign: "+" | "-";
  row: Value[];
}

/** What came and went up to an instant, the newest first. */
export function changesOf(known: Known, last: number, most = 2000): Change[] {
  const found: Change[] = [];
  for (const { row, from, to } of known.held) {
    if (from <= last) found.push({ at: from, sign: "+", row });
    if (to !== null && to <= last) found.push({ at: to, sign: "-", row });
  }
  return found.sort((a, b) => b.at - a.at || (a.sign < b.sign ? -1 : 1)).slice(0, most);
}
