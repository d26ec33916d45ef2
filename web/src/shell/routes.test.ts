import { expect, test } from "vitest";
import { linkTo, parseRoute } from "./routes";

test("an address names a view and what follows", () => {
  expect(parseRoute("#/queries/hot%20items")).toEqual({ view: "queries", rest: "hot items" });
  expect(parseRoute("")).toEqual({ view: "graph", rest: "" });
  expect(parseRoute("#/nonsense/x")).toEqual({ view: "graph", rest: "" });
});

test("links lead where they say", () => {
  expect(parseRoute(linkTo("queries", "a/b ?"))).toEqual({ view: "queries", rest: "a/b ?" });
});
