import { expect, it } from "vitest";
import { firstErrors, reasonAt } from "./checked";
import type { CheckedPlan, PlanProblem } from "./contract";
import type { Part } from "./draft";

const union: Part = { id: "union1", kind: "union", settings: {}, inputs: ["a", null, "b"], x: 0, y: 0 };

function said(error: Partial<PlanProblem>): CheckedPlan {
  const columns = [{ name: "n", type: "BIGINT" }];
  const right = (id: string) => ({ id, state: "right" as const, columns, domain: null, windowed: false });
  const errors = [{ message: "wrong", node: "union1", ...error }];
  return {
    level: "logical", complete: false, output: null, columns: null, domain: null,
    nodes: [right("a"), right("b")], errors, warnings: [], sql: null, sql_reason: null, plans: null,
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
