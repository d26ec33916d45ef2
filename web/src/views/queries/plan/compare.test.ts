// @vitest-environment node
import { expect, test } from "vitest";
import type { PlanNode } from "../../../api/types";
import { compare, inOrder, words, type Marks } from "./compare";
import { totalOf } from "./costs";

function node(operator: string, details = "", ...inputs: PlanNode[]): PlanNode {
  return {
    operator,
    details,
    columns: [],
    cost: { rate: 1, live_rows: 1, cpu: 1, state_rows: 2, state_bytes: 3 },
    inputs,
  };
}

function marks(before: PlanNode, after: PlanNode): [string[], string[]] {
  const found = compare(before, after);
  const tell = (plan: PlanNode, { mark }: Marks) => inOrder(plan).map((each) => `${each.operator} ${mark.get(each)}`);
  return [tell(before, found.before), tell(after, found.after)];
}

test("a filter that is pushed below a join has moved, and nothing else", () => {
  const before = node("Filter", "a > 1", node("Join", "", node("Scan", "s"), node("Scan", "t")));
  const after = node("Join", "", node("Filter", "a > 1", node("Scan", "s")), node("Scan", "t"));
  expect(marks(before, after)).toEqual([
    ["Filter moved", "Join same", "Scan same", "Scan same"],
    ["Join same", "Filter moved", "Scan same", "Scan same"],
  ]);
});

test("an operator of the same kind at the same place has changed", () => {
  const before = node("Project", "[a]", node("Window", "5", node("Scan", "a, b")));
  const after = node("Project", "[a]", node("Window", "5", node("Scan", "a")));
  expect(marks(before, after)[1]).toEqual(["Project same", "Window same", "Scan changed"]);
});

test("in a text that changed, the words that the other lacks are told", () => {
  const changed = (text: string, other?: string) =>
    words(text, other).flatMap(({ word, changed }) => (changed ? [word] : []));
  expect(changed("bid columns=[item, price]", "bid columns=[item]")).toEqual(["price"]);
  expect(changed("bid columns=[item]")).toEqual([]);
  expect(
    words("a = b.c", "")
      .map(({ word }) => word)
      .join(""),
  ).toBe("a = b.c");
});

test("what has no counterpart is gone or new", () => {
  const before = node("Project", "[a]", node("Filter", "true", node("Scan", "s")));
  const after = node("Project", "[a]", node("Scan", "s", node("Index", "")));
  expect(marks(before, after)).toEqual([
    ["Project same", "Filter gone", "Scan same"],
    ["Project same", "Scan same", "Index new"],
  ]);
});

test("equal plans are the same, and equal parts are paid once", () => {
  const twice = node("Union", "", node("Scan", "s"), node("Scan", "s"));
  expect(marks(twice, structuredClone(twice))[1].every((each) => each.endsWith("same"))).toBe(true);
  expect(totalOf(twice)).toEqual({ cpu: 2, state_rows: 4, state_bytes: 6 });
});
