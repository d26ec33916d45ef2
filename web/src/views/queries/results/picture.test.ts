// @vitest-environment node
import { expect, test } from "vitest";
import type { Column, Value } from "../../../api/types";
import type { Known } from "./intervals";
import { defaultChoice, lanes, risers, steps, valuesAt } from "./picture";

const columns: Column[] = [
  { name: "item", type: "STRING" },
  { name: "price", type: "DOUBLE" },
];

function known(...rows: [Value[], number, number | null][]): Known {
  const held = rows.map(([row, from, to]) => ({ row, key: JSON.stringify(row), from, to }));
  return { columns, domain: "ticks", held, completeUntil: 20, wholeFrom: -Infinity };
}

const ALL = { start: 0, end: 100 };
const LAMP = known(
  [["lamp", 30], 1, 4],
  [["lamp", 35], 4, 9],
  [["lamp", "40.5"], 12, null],
  [["vase", 12], 2, 7],
  [["vase", null], 7, 9],
);

test("rows become bars at their values, by series, with gaps and open ends", () => {
  const { series, low, high } = steps(LAMP, { value: 1, by: [0] }, ALL, 5);
  expect(series.map(({ key, bars }) => [key, bars.map(({ from, to, y }) => [from, to, y])])).toEqual([
    [
      "lamp",
      [
        [1, 4, 30],
        [4, 9, 35],
        [12, Infinity, 40.5],
      ],
    ],
    ["vase", [[2, 7, 12]]],
  ]);
  expect([low, high]).toEqual([12, 40.5]);
});

test("a step is drawn only where one row follows another at once", () => {
  const [lamp] = steps(LAMP, { value: 1, by: [0] }, ALL, 5).series;
  expect(risers(lamp!.bars)).toEqual([{ at: 4, low: 30, high: 35 }]);
  const [both] = steps(
    known([["a", 1], 0, 5], [["a", 2], 5, 9], [["a", 3], 5, 9]),
    { value: 1, by: [0] },
    ALL,
    5,
  ).series;
  expect(risers(both!.bars)).toEqual([]);
});

test("overlapping rows of a series all hold", () => {
  const [all] = steps(LAMP, { value: 1, by: [] }, ALL, 5).series;
  expect(valuesAt(all!, 4).map(({ y }) => y)).toEqual([12, 35]);
  expect(valuesAt(all!, 10)).toEqual([]);
});

test("the series with most rows are told apart, the others stand behind them", () => {
  const picture = steps(LAMP, { value: 1, by: [0] }, ALL, 1);
  expect([picture.series.map(({ key }) => key), picture.rest.length, picture.others]).toEqual([["lamp"], 1, 1]);
});

test("only what meets the window is drawn", () => {
  const picture = steps(LAMP, { value: 1, by: [0] }, { start: 9, end: 11 }, 5);
  expect(picture.series).toEqual([]);
  expect(steps(LAMP, { value: 1, by: [0] }, { start: 8, end: 12 }, 5).series[0]!.bars).toHaveLength(2);
});

test("rows without numbers get lanes, the last that moved above", () => {
  const picture = lanes(LAMP, [0], ALL, 5);
  expect(picture.series.map(({ key, bars }) => [key, bars[0]!.y, bars.length])).toEqual([
    ["lamp", 1, 3],
    ["vase", 0, 2],
  ]);
});

test("columns are chosen as people would", () => {
  const of = (...types: string[]) => defaultChoice(types.map((type, n) => ({ name: `c${n}`, type })));
  expect(of("STRING", "DOUBLE", "BIGINT")).toEqual({ value: 1, by: [0] });
  expect(of("BIGINT", "BIGINT")).toEqual({ value: 1, by: [0] });
  expect(of("BIGINT")).toEqual({ value: 0, by: [] });
  expect(of("STRING", "BOOLEAN")).toEqual({ value: null, by: [0, 1] });
});
