// @vitest-environment node
import { Text } from "@codemirror/state";
import { expect, test } from "vitest";
import type { Catalog, SourceEntry } from "../../../api/types";
import { parseRows, sampleRows, valueOf } from "../side/pushing";
import { columnOptions } from "./completion";
import { examplesFor } from "./examples";
import { freeName, unnamedQuery } from "./naming";
import { placeOf, suggestion } from "./places";

const bid: Catalog["streams"][number] = {
  name: "bid",
  columns: [
    { name: "item", type: "STRING" },
    { name: "price", type: "DOUBLE" },
    { name: "ts", type: "TIMESTAMP" },
  ],
  time: "ts",
  domain: "microseconds",
  slack: 0,
  pushed: true,
  used_by: [],
  rows: 0,
  late_rows: 0,
  watermark: null,
  rate: 0,
  sql: "",
};

test("a problem stands where the server counts it, in characters", () => {
  const doc = Text.of(["SELECT '𝄞', itm", "FROM bid"]);
  const { from, to } = placeOf(doc, { message: "", line: 1, column: 13, length: 3 });
  expect(doc.sliceString(from, to)).toBe("itm");
  const end = placeOf(doc, { message: "", line: 2, column: 9, length: 1 });
  expect(doc.sliceString(end.from, end.to)).toBe("d");
  const nowhere = placeOf(doc, { message: "" });
  expect(doc.sliceString(nowhere.from, nowhere.to)).toBe("SELECT");
});

test("a help that says what was meant can be taken at its word", () => {
  const help = (text: string) => suggestion({ message: "", line: 1, help: text });
  expect(help("did you mean `price`? columns: item, price")).toBe("price");
  expect(help("did you mean bid WINDOW(RANGE 1 HOUR)?")).toBe("bid WINDOW(RANGE 1 HOUR)");
  expect(help("write GROUP BY")).toBeNull();
});

test("columns are offered of what the text names", () => {
  const ask = { ...bid, name: "ask" };
  const offered = columnOptions([bid, ask], "SELECT FROM Bid AS b").map(({ label, detail }) => `${label} ${detail}`);
  expect(offered).toEqual(["item STRING · bid", "price DOUBLE · bid", "ts TIMESTAMP · bid"]);
});

test("a query without a name is told from what stands before it", () => {
  const sql = "CREATE STREAM 𝄞; SELECT 1";
  const found = { sql, statements: [{ kind: "select", name: null, start: 17, end: 25 }], errors: [], warnings: [] };
  expect(unnamedQuery(found)).toEqual({ before: "CREATE STREAM 𝄞; ", select: "SELECT 1" });
  expect(unnamedQuery({ ...found, errors: [{ message: "no", line: null, column: null, length: null, help: null, kind: "plan" }] })).toBeNull();
  expect(freeName(["query1", "Query2"])).toBe("query3");
});

test("examples are about streams that are there", () => {
  const catalog: Catalog = { streams: [bid], relations: [], derived: [] };
  expect(examplesFor(catalog)[1]!.sql).toContain("SELECT item, MAX(price) AS highest");
  expect(examplesFor(null).map(({ title }) => title)).toEqual(["A stream of your own"]);
});

test("rows are invented and read", () => {
  const now = Date.UTC(2026, 0, 1);
  const times = (stream: SourceEntry, after = 0) =>
    sampleRows(stream, 2, now, after, () => 0.5).map(({ ts }) => String(ts).slice(11));
  expect(sampleRows(bid, 1, now, 0, () => 0.5)).toEqual([{ item: "cy", price: 50, ts: "2026-01-01T00:00:00.000Z" }]);
  expect(times(bid)).toEqual(["23:59:55.000Z", "00:00:00.000Z"]);
  expect(times(bid, now)).toEqual(["00:00:00.001Z", "00:00:00.002Z"]);
  expect(times({ ...bid, rows: 1, watermark: Date.UTC(2024, 2, 1) * 1000 })).toEqual([
    "00:00:00.100Z",
    "00:00:00.200Z",
  ]);
  expect(valueOf("9007199254740993", { name: "n", type: "BIGINT" })).toBe("9007199254740993");
  expect(valueOf("", { name: "n", type: "BIGINT" })).toBeNull();
  expect(parseRows('{"a": 1}')).toEqual([{ a: 1 }]);
  expect(() => parseRows("[1]")).toThrow("each row");
});
