import { expect, it } from "vitest";
import type { SettingForm } from "../model/contract";
import { handy } from "../model/columns";
import { suggestions, wordsFor } from "./words";

const columns = [
  { name: "b.item", type: "STRING" },
  { name: "b.price", type: "BIGINT" },
  { name: "a.item", type: "STRING" },
];
const form = (type: SettingForm["type"]): SettingForm => ({
  name: "x", title: "X", type, required: false, default: null, choices: [], help: "", example: "",
});

it("shortens names that are not ambiguous", () => {
  expect(handy(columns).map((column) => column.name)).toEqual(["b.item", "price", "a.item"]);
});

it("suggests what is not there yet", () => {
  expect(suggestions(form("aggregates"), columns, ["COUNT(*) AS n"])).toEqual([
    "MAX(price) AS max_price",
    "AVG(price) AS avg_price",
    "SUM(price) AS sum_price",
  ]);
  expect(suggestions(form("columns"), columns, ["price"])).toEqual(["b.item", "a.item"]);
});

it("completes columns before anything else", () => {
  expect(wordsFor(form("condition"), columns)[1]).toMatchObject({ label: "price", detail: "BIGINT" });
});
