import { expect, test } from "vitest";
import type { Graph, GraphNode } from "../../api/types";
import { boxAt, boxesOf } from "./boxes";
import { heirs } from "./heirs";
import { arrangeAnew } from "./layout";
import { shortDetails, titleOf } from "./names";
import { drawnOf, found, itemsOf, partsOf, tintOf, usersInWords } from "./picture";
import { firstSight, freeRoom } from "./sight";
import { Spot } from "./spot";
import { inReadingOrder, walk } from "./walk";

const node = (id: number, operator: string, details: string, inputs: number[], queries: string[]): GraphNode => ({
  id, operator, details, inputs, queries, role: "operator", window: operator === "TimeWindowExec" ? 300e6 : null, granularity: null,
});
const graph = {
  nodes: [
    node(0, "SourceExec", "bid columns=[item, price]", [], ["hot", "dear"]),
    node(1, "TimeWindowExec", "range=300000000", [0], ["hot"]),
    node(2, "FilterExec", "bid.price > 10", [0], ["dear"]),
  ],
  roots: [{ query: "hot", node: 1 }, { query: "dear", node: 2 }],
  migrations: [],
} as unknown as Graph;
const drawn = drawnOf(graph, "");
const places = arrangeAnew(itemsOf(drawn));

test("a query's name is below its root; one query alone has only its parts", () => {
  expect(drawn.map((each) => each.id)).toEqual(["0", "1", "2", "1 hot", "2 dear"]);
  expect(drawnOf(graph, "hot").map((each) => each.id)).toEqual(["0", "1", "1 hot"]);
  expect(partsOf(drawn, "dear")).toEqual(new Set(["0", "2", "2 dear"]));
  expect(found(drawn, " PRICE > ")).toEqual(new Set(["2"]));
});

test("a projection is told on the card of what it reads, if nothing else reads that", () => {
  const project = node(3, "ProjectExec", "[item := bid.item]", [1], ["hot"]);
  const beside = node(4, "ProjectExec", "[price := bid.price]", [0], ["dear"]);
  const more = { ...graph, nodes: [...graph.nodes, project, beside], roots: [{ query: "hot", node: 3 }, { query: "dear", node: 4 }] } as Graph;
  const cards = drawnOf(more, "");
  expect(cards.map((each) => each.id)).toEqual(["0", "1", "2", "4", "3 hot", "4 dear"]);
  expect(cards.find((each) => each.id === "3 hot")!.inputs).toEqual(["1"]);
  expect(cards.find((each) => each.id === "1")).toMatchObject({ then: { id: 3 } });
  expect(found(cards, "item := ")).toEqual(new Set(["1"]));
  const migrations = [{ query: "hot", old_nodes: [3], new_nodes: [] }] as unknown as Graph["migrations"];
  expect(drawnOf({ ...more, migrations }, "").some((each) => each.id === "3")).toBe(true);
});

test("parts of the old and the new plan are told apart from what both share", () => {
  const migration = { query: "hot", old_nodes: [0, 1], new_nodes: [0, 2] } as Graph["migrations"][number];
  expect(graph.nodes.map((each) => tintOf(each, [migration]))).toEqual([null, "old", "new"]);
});

test("a part whose size was changed, and what stands on it, come instead of what was there", () => {
  const after = drawnOf({
    ...graph,
    nodes: [graph.nodes[0]!, { ...graph.nodes[1]!, id: 7, details: "range=60" }, graph.nodes[2]!, node(8, "FilterExec", "x", [0], ["new"])],
    roots: [{ query: "hot", node: 7 }, { query: "dear", node: 2 }],
  }, "");
  expect([...heirs(drawn, after)]).toEqual([["7", "1"], ["7 hot", "1 hot"]]);
  expect(heirs(drawn, drawn).size).toBe(0);
});

test("names are for people", () => {
  expect(graph.nodes.map(titleOf)).toEqual(["bid", "Time window", "Filter"]);
  expect(graph.nodes.map((each) => shortDetails(each, "microseconds"))).toEqual(["item, price", "last 5 min", "bid.price > 10"]);
  expect(shortDetails({ operator: "ProjectExec", details: "[item := bid.item, n := count1]", window: null }, null)).toBe("item, n = count1");
  const count = { operator: "AggregateExec", details: "by=[bid.item] [count1 := COUNT(*)]", window: null };
  expect(shortDetails(count, null)).toBe("by bid.item: count1 = COUNT(*)");
  const join = { operator: "JoinExec", details: "keys=[a.x = b.x = c.x] orders=[012, 102]", window: null };
  expect(shortDetails(join, null)).toBe("on a.x = b.x = c.x");
  expect(shortDetails({ operator: "CountWindowExec", details: "rows=100 knob=rows of bid", window: 100 }, null)).toBe("last 100 rows");
});

test("a few of many queries are named", () => {
  expect(usersInWords(["hot", "dear"])).toBe("used by hot, dear");
  expect(usersInWords(Array.from({ length: 10 }, (_, n) => `q${n}`))).toBe("used by 10 queries: q0, q1, q2, q3, q4, q5, q6, q7 and 2 more");
});

test("arrow keys walk along the graph", () => {
  expect(walk("1", "ArrowUp", drawn, places)).toBe("0");
  expect(walk("1", "ArrowDown", drawn, places)).toBe("1 hot");
  const right = places["1"]!.x < places["2"]!.x;
  expect(walk("1", right ? "ArrowRight" : "ArrowLeft", drawn, places)).toBe("2");
  expect(walk("0", "ArrowUp", drawn, places)).toBeNull();
  expect(inReadingOrder(drawn, places)[0]!.id).toBe("0");
});

test("from far away, an item is found where its colour is", () => {
  const boxes = boxesOf(drawn, places);
  const { left, top } = boxes.find((box) => box.id === "2")!;
  expect([boxAt(boxes, left + 1, top + 1), boxAt(boxes, left - 9999, top)]).toEqual(["2", null]);
});

test("one looks at everything first, if it can be read, and never under the panel", () => {
  expect(firstSight(drawn, places, 1000, 800).zoom).toBe(1);
  expect(firstSight(drawn, places, 60, 60).zoom).toBe(0.48);
  expect(freeRoom({ width: 1000, height: 800 }, true)).toEqual({ width: 620, height: 800 });
  expect(freeRoom({ width: 390, height: 800 }, true).width).toBe(390);
});

test("what is not pointed at is dim, also what comes later; a search waits behind the mouse", () => {
  const spot = new Spot();
  const [a, b] = [document.createElement("p"), document.createElement("p")];
  spot.hold("a", a);
  spot.search(new Set(["b"]));
  expect(a.className).toBe("dim");
  spot.point(new Set(["a"]));
  spot.hold("b", b);
  expect([a.className, b.className]).toEqual(["", "dim"]);
  spot.point(null);
  spot.search(null);
  expect([a.className, b.className]).toEqual(["", ""]);
});
