import { expect, test } from "vitest";
import { fold } from "./fold";
import { arrange, arrangeAnew, nearestFree, STEP, type Item, type Places } from "./layout";
import { bends } from "./routing";

const item = (id: string, ...inputs: string[]): Item => ({ id, inputs });
const small = [item("bid"), item("person"), item("window", "bid"), item("join", "window", "person"), item("q", "join")];

function overlaps(places: Places): string[] {
  const all = Object.entries(places);
  return all.flatMap(([a, p], index) =>
    all.slice(index + 1).flatMap(([b, q]) => (p.row === q.row && Math.abs(p.x - q.x) < STEP - 1 ? [`${a} ${b}`] : [])),
  );
}

function upward(items: Item[], places: Places): string[] {
  return items.flatMap(({ id, inputs }) => inputs.filter((input) => places[input]!.row >= places[id]!.row).map((input) => `${input} ${id}`));
}

test("sources are at the top, and everything is below what it reads", () => {
  const places = arrangeAnew(small);
  expect([places.bid!.row, places.person!.row, places.window!.row, places.join!.row, places.q!.row]).toEqual([0, 0, 1, 2, 3]);
  expect(overlaps(places)).toEqual([]);
});

test("what has a place keeps it when a query comes, and when one goes", () => {
  const before = arrangeAnew(small);
  const more = [...small, item("filter", "window"), item("hot", "filter")];
  const after = arrange(more, before);
  for (const { id } of small) expect(after[id]).toEqual(before[id]);
  expect(after.filter!.row).toBe(2);
  expect(overlaps(after)).toEqual([]);
  expect(arrange(small, after)).toEqual(before);
});

test("another graph is laid out anew", () => {
  const other = [item("x"), item("y", "x")];
  expect(arrange([...other, ...small], { x: { x: 5000, row: 9 } })).toEqual(arrangeAnew([...other, ...small]));
});

test("something whose input moved below it moves too", () => {
  const places = arrange(small, { ...arrangeAnew(small), window: { x: 0, row: 7 } });
  expect(upward(small, places)).toEqual([]);
});

test("a place is taken as near as there is room", () => {
  expect(nearestFree(10, [])).toBe(10);
  expect(nearestFree(10, [0])).toBe(STEP);
  expect(nearestFree(10, [0, STEP])).toBe(-STEP);
});

test("hundreds of queries over one stream are folded, and still flow down", () => {
  const many = [item("s"), ...Array.from({ length: 120 }, (_, n) => [item(`f${n}`, "s"), item(`q${n}`, `f${n}`)]).flat()];
  const places = arrangeAnew(many);
  const [xs, rows] = [Object.values(places).map((place) => place.x), Object.values(places).map((place) => place.row)];
  expect(Math.max(...xs) - Math.min(...xs)).toBeLessThan(60 * STEP);
  expect(Math.max(...rows)).toBeGreaterThan(4);
  expect(overlaps(places)).toEqual([]);
  expect(upward(many, places)).toEqual([]);
});

test("what is not too wide is not folded", () => {
  const places = arrangeAnew(small);
  expect(fold(small, places)).toBe(places);
});

test("a long line goes straight down through a gap", () => {
  const rows = new Map([[1, [0]], [2, [0, STEP]]]);
  expect(bends({ x: 0, row: 0 }, { x: 0, row: 3 }, rows)).toEqual([[-STEP / 2, 1], [-STEP / 2, 2]]);
  expect(bends({ x: 0, row: 0 }, { x: 0, row: 1 }, rows)).toEqual([]);
});
