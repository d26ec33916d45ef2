import { expect, it } from "vitest";
import { firstErrors, reasonAt } from "./checked";
import type { CheckedPlan } from "./contract";
import type { Part } from "./draft";

const union: Part = { id: "union1", kind: "union", settings: {}, inputs: ["a", null, "b"], x: 0, y: 0 };

const nowhere = { help: null, setting: null, input: null, line: null, column: null, length: null };

function said(error: Partial<CheckedPlan["errors"][number]>): CheckedPlan {
  const columns = [{ name: "n", type: "BIGINT" }];
  const right = (id: string) => ({ id, state: "right" as const, columns, domain: null, windowed: false });
  const errors = [{ message: "wrong", node: "union1", ...nowhere, ...error }];
  return {
    level: "logical", complete: false, output: null, columns: null, domain: null,
    nodes: [right("a"), right("b")], errors, warnings: [], sql: null, sql_reason: null, plans: null, texts: null, rules: null, total: null,
  };
}

it("blames the connection that an error is about, whatever places are empty", () => {
  expect(reasonAt(said({ input: 1 }), union, 2)?.message).toBe("wrong");
  expect(reasonAt(said({ input: 1 }), union, 0)).toBeNull();
});

it("blames what comes in for what cannot be computed from it, not for what is missing", () => {
  expect(reasonAt(said({ setting: "condition", line: 1, column: 1 }), union, 0)?.message).toBe("wrong");
  expect(reasonAt(said({ setting: "condition" }), union, 0)).toBeNull();
});

it("tells one thing at a time of every operator", () => {
  const errors = [{ message: "1", node: "a" }, { message: "2", node: "a" }, { message: "3" }, { message: "4" }];
  expect(firstErrors(errors).map((error) => error.message)).toEqual(["1", "3", "4"]);
});
