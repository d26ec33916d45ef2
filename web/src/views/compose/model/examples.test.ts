import { expect, it } from "vitest";
import { examples } from "./examples";

const stream = {
  name: "bid", used_by: [], sql: "", time: "at",
  columns: [
    { name: "id", type: "BIGINT" },
    { name: "item", type: "STRING" },
    { name: "price", type: "DOUBLE" },
    { name: "at", type: "BIGINT" },
  ],
};

it("makes plans of what a stream has", () => {
  const [, groups, top] = examples(stream, "logical").map(({ draft }) => draft.parts);
  expect(groups!.map((part) => part.inputs)).toEqual([[], ["scan1"], ["time_window1"]]);
  expect(groups![1]!.settings).toEqual({ size: "100", slide: "10" }); // time is a number here
  expect(groups![2]!.settings.keys).toEqual(["item"]);
  expect(top![2]!.settings.order).toEqual(["price DESC"]);
});

it("begins with the source of the level", () => {
  expect(examples(stream, "physical")[0]!.draft).toMatchObject({ level: "physical", parts: [{ kind: "source" }, {}, {}] });
});
