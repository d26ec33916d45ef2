import type { Domain, Happening } from "../../api/types";
import { duration } from "../../parts/format";

export type Lane = "queries" | "plans" | "sizes" | "troubles";
export const LANES: readonly Lane[] = ["queries", "plans", "sizes", "troubles"];

const KINDS: Record<string, [Lane, string]> = {
  start: ["queries", "started"],
  stop: ["queries", "stopped"],
  migrate: ["plans", "plan changes"],
  migrated: ["plans", "plan changed"],
  adapt: ["sizes", "size changed"],
  fail: ["troubles", "failed"],
  refuse: ["troubles", "refused"],
  late: ["troubles", "late rows"],
};

export const laneOf = (kind: string): Lane => KINDS[kind]?.[0] ?? "troubles";
export const wordFor = (kind: string): string => KINDS[kind]?.[1] ?? kind;

/** A size of a window or a granule; knobs are named like "range of bid" and "rows of bid". */
export const sizeWords = (knob: string, size: number, domain: Domain): string =>
  knob.startsWith("rows") ? `${size.toLocaleString("en")} rows` : duration(size, domain);

/** Events, with sizes as people tell them. */
export function textOf(event: Happening, domainOf: (knob: string) => Domain): string {
  const [, knob, before, after] = /^(.*): (\d+) to (\d+)$/.exec(event.text) ?? [];
  if (event.kind !== "adapt" || knob === undefined) return event.text;
  const words = (size: string | undefined) => sizeWords(knob, Number(size), domainOf(knob));
  return `${knob}: ${words(before)} to ${words(after)}`;
}

/** Things of one lane that happened so near to each other that one sign stands for them. */
export interface Cluster {
  lane: Lane;
  /** Where on the axis, from 0 to 1. */
  place: number;
  events: Happening[];
}

/** Signs on the axis, in the order of time: at most so many in a lane. */
export function clustersOf(events: Happening[], from: number, to: number, places: number): Cluster[] {
  const found = new Map<string, Cluster>();
  for (const event of events.filter((each) => each.at >= from && each.at <= to)) {
    const lane = laneOf(event.kind);
    const place = Math.round((places * (event.at - from)) / Math.max(1, to - from));
    const key = `${lane} ${place}`;
    const cluster = found.get(key) ?? { lane, place: place / places, events: [] };
    cluster.events.push(event);
    found.set(key, cluster);
  }
  return [...found.values()].sort((a, b) => a.place - b.place);
}

/** From a change of plans to its end: what is drawn as a bar. An open one goes on until now. */
export function spansOf(events: Happening[], from: number, to: number): { query: string; begin: number; end: number }[] {
  const place = (at: number) => Math.min(1, Math.max(0, (at - from) / Math.max(1, to - from)));
  return events
    .filter((event) => event.kind === "migrate" && event.query !== null)
    .map((event) => {
      const end = events.find((each) => each.kind === "migrated" && each.query === event.query && each.at >= event.at);
      return { query: event.query!, begin: place(event.at), end: end ? place(end.at) : 1 };
    });
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400].map((each) => each * 1000);

/** Round times between two instants, five to eight of them. */
export function ticksOf(from: number, to: number): number[] {
  const step = STEPS.find((each) => (to - from) / each <= 8) ?? STEPS.at(-1)!;
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, index) => first + index * step);
}
