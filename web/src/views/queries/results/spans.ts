import type { Domain } from "../../../api/types";
import { duration } from "../../../parts/format";
import { span, type Known } from "./intervals";
import type { Window } from "./picture";

const MINUTE = 60e6;
const TIMES = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 720 * MINUTE];
const TICKS = [20, 100, 1000, 10_000];

/** Lengths of time to look at, those that what is kept can fill; 0 is all of it. */
export function spansFor(known: Known): [number, string][] {
  const [first, last] = span(known) ?? [0, 0];
  const lengths = known.domain === "microseconds" ? TIMES : TICKS;
  const filled = lengths.filter((length) => length < last - first);
  return [
    ...filled.map((length): [number, string] => [length, `last ${words(length, known.domain)}`]),
    [0, "all that is kept"],
  ];
}

const words = (length: number, domain: Domain): string =>
  domain === "microseconds" ? duration(length, domain) : String(length);

/** The stretch of time that is drawn up to `last`, with a little beyond it; it has `at` inside. */
export function windowOf(known: Known, length: number, last: number | null, at: number | null): Window {
  const reach = span(known);
  if (reach === null || last === null) return { start: 0, end: 1 };
  const start = length ? Math.max(Math.min(reach[0], last - 1), last - length) : reach[0];
  const end = last + Math.max(1, Math.round((last - start) * 0.04));
  const beside = at !== null && (at < start || at > end);
  const half = Math.max(1, Math.round((end - start) / 2));
  return beside ? { start: at - half, end: at + half } : { start: Math.min(start, end - 1), end };
}
