import { expect, it } from "vitest";
import type { Held } from "./intervals";
import { inOrder, usual } from "./order";

const held = (...rows: [string, number | null][]): Held[] =>
  rows.map((row) => ({ row, key: JSON.stringify(row), from: 0, to: null }));

const COLUMNS = [
  { name: "item", type: "STRING" },
  { name: "price", type: "BIGINT" },
];
const ROWS = held(["b", 5], ["a", 9], ["c", null], ["d", 9]);
const items = (rows: Held[]) => rows.map(({ row }) => row[0]).join("");

it("keeps the order of the query", () => {
  const down = [{ column: "price", descending: true, nulls_first: false }];
  expect(items(inOrder(ROWS, usual(down, COLUMNS)))).toBe("adbc");
  const up = [{ column: "price", descending: false, nulls_first: true }];
  expect(items(inOrder(ROWS, usual(up, COLUMNS)))).toBe("cbad");
});

it("orders by a text if the query has no order", () => {
  expect(items(inOrder(ROWS, usual([], COLUMNS)))).toBe("abcd");
});
