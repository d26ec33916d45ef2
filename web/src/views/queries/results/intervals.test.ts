// @vitest-environment node
import { expect, test } from "vitest";
import type { Table, Value } from "../../../api/types";
import { added, changesOf, latest, NOTHING, snapshotAt, span } from "./intervals";
import { clock, parseInstant } from "./times";

type Row = [Value[], number, number | null];

function table(rows: Row[], complete_until: number | null): Table {
  return {
    columns: [{ name: "n", type: "BIGINT" }],
    domain: "ticks",
    rows: rows.map(([row]) => row),
    valid_from: rows.map(([, from]) => from),
    valid_to: rows.map(([, , to]) => to),
    truncated: false,
    complete_until,
  };
}

const told = (...batches: Table[]) => batches.reduce((known, each) => added(known, each), NOTHING);
const intervals = (known: ReturnType<typeof told>) => known.held.map(({ row, from, to }) => [row[0], from, to]);

test("a row that was cut where the answer was complete goes on", () => {
  const known = told(
    table(
      [
        [[1], 1, 3],
        [[2], 3, 5],
      ],
      5,
    ),
    table(
      [
        [[2], 5, 7],
        [[1], 7, 9],
      ],
      9,
    ),
  );
  expect(intervals(known)).toEqual([
    [1, 1, 3],
    [2, 3, 7],
    [1, 7, 9],
  ]);
});

test("a row that comes again with a later end is the same row", () => {
  expect(intervals(told(table([[[2], 3, 5]], 5), table([[[2], 3, 8]], 8)))).toEqual([[2, 3, 8]]);
  expect(intervals(told(table([[[2], 3, null]], 5), table([[[2], 3, 6]], 8)))).toEqual([[2, 3, 6]]);
});

test("what is told again is not taken twice", () => {
  const past = table(
    [
      [[1], 1, 3],
      [[2], 3, 12],
    ],
    12,
  );
  const known = told(
    past,
    table(
      [
        [[1], 1, 3],
        [[2], 3, 10],
      ],
      10,
    ),
    table([[[2], 3, 15]], 15),
  );
  expect([intervals(known), known.completeUntil]).toEqual([
    [
      [1, 1, 3],
      [2, 3, 15],
    ],
    15,
  ]);
});

test("equal rows that hold twice stay two", () => {
  const known = told(
    table(
      [
        [[2], 3, 5],
        [[2], 3, 5],
      ],
      5,
    ),
    table(
      [
        [[2], 5, 6],
        [[2], 5, 9],
      ],
      9,
    ),
  );
  expect(intervals(known)).toEqual([
    [2, 3, 6],
    [2, 3, 9],
  ]);
  expect(snapshotAt(known.held, 5)).toHaveLength(2);
});

test("a snapshot has what began by then and has not ended", () => {
  const known = told(
    table(
      [
        [[1], 1, 4],
        [[2], 4, null],
        [[3], 6, 7],
      ],
      7,
    ),
  );
  expect([0, 1, 3, 4, 6, 7].map((at) => snapshotAt(known.held, at).map(({ row }) => row[0]))).toEqual([
    [],
    [1],
    [1],
    [2],
    [2, 3],
    [2],
  ]);
  expect([latest(known), span(known)]).toEqual([6, [1, 6]]);
});

test("of too many rows the newest are kept", () => {
  const rows = Array.from({ length: 30 }, (_, n): Row => [[n], n, n + 1]);
  const known = added(NOTHING, table(rows, 30), 10);
  expect([known.held.length, known.held[0]!.from, known.wholeFrom]).toEqual([8, 22, 22]);
  expect(added(NOTHING, { ...table([], 30), truncated: true }).wholeFrom).toBe(Infinity);
});

test("changes are told up to an instant, the newest first", () => {
  const known = told(
    table(
      [
        [[1], 1, 4],
        [[2], 4, 9],
      ],
      9,
    ),
  );
  expect(changesOf(known, 8).map(({ at, sign, row }) => `${at}${sign}${row[0]}`)).toEqual(["4+2", "4-1", "1+1"]);
});

test("an instant can be written as a number, a time of the day, or in full", () => {
  const noon = Date.UTC(2024, 2, 1, 12) * 1000;
  expect(parseInstant("1,234", "ticks", 0)).toBe(1234);
  expect(parseInstant("9:30", "microseconds", noon)).toBe(noon - 2.5 * 3600e6);
  expect(parseInstant("2024-03-02 12:00:00.5", "microseconds", noon)).toBe(noon + 24 * 3600e6 + 500_000);
  expect([parseInstant("soon", "ticks", 0), parseInstant("25:00", "microseconds", noon)]).toEqual([null, null]);
  expect([clock(noon + 1500, "microseconds"), clock(null, "ticks")]).toEqual(["12:00:00.001", "∞"]);
});
