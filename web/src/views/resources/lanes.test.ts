import { expect, test } from "vitest";
import type { Happening } from "../../api/types";
import { position } from "./Knobs";
import { clustersOf, laneOf, spansOf, textOf, ticksOf } from "./lanes";

const event = (at: number, kind: Happening["kind"], query: string | null = "q"): Happening => ({
  at, tick: 0, kind, query, text: kind, instant: null,
});

test("what happened at once is one sign, lanes apart", () => {
  const clusters = clustersOf([event(0, "start"), event(1, "start"), event(1, "adapt"), event(100, "fail")], 0, 100, 50);
  expect(clusters.map(({ lane, events }) => [lane, events.length])).toEqual([["queries", 1], ["queries", 1], ["sizes", 1], ["troubles", 1]]);
  expect(clustersOf([event(0, "start"), event(1, "start")], 0, 1000, 50)).toHaveLength(1);
  expect(laneOf("something new")).toBe("troubles");
});

test("a change of plans lasts until its end, or until now", () => {
  const events = [event(0, "migrate", "a"), event(50, "migrated", "a"), event(80, "migrate", "b"), event(100, "start")];
  expect(spansOf(events, 0, 100)).toEqual([{ query: "a", begin: 0, end: 0.5 }, { query: "b", begin: 0.8, end: 1 }]);
});

test("sizes are told as people tell them", () => {
  const text = (text: string) => textOf({ ...event(0, "adapt"), text }, () => "microseconds");
  expect(text("range of bid: 600000000 to 120000000")).toBe("range of bid: 10 min to 2 min");
  expect(text("rows of bid: 100 to 1000")).toBe("rows of bid: 100 rows to 1,000 rows");
  expect(text("something else")).toBe("something else");
});

test("the axis has round times", () => {
  expect(ticksOf(500, 7_900)).toEqual([1000, 2000, 3000, 4000, 5000, 6000, 7000]);
  expect(ticksOf(0, 3_600_000).length).toBeLessThanOrEqual(9);
});

test("a size is shown between its bounds", () => {
  expect(position({ size: 20, lower: 10, upper: 50 })).toBe(0.25);
  expect(position({ size: 7, lower: 7, upper: 7 })).toBe(1);
});
