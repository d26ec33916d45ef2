import { call, part, post, Refused } from "../../api/client";
import type { Problem } from "../../api/types";

/** What can be done with a query by its name. */
export const start = (name: string, partial = false): Promise<unknown> =>
  post(`queries/${part(name)}/start`, { partial });
export const stop = (name: string): Promise<unknown> => post(`queries/${part(name)}/stop`);
export const drop = (name: string): Promise<unknown> => call("DELETE", `queries/${part(name)}`);
export const alter = (name: string, sql: string): Promise<unknown> => call("PATCH", `queries/${part(name)}`, { sql });
export const optimize = (name: string): Promise<unknown> => call("PATCH", `queries/${part(name)}`, { optimize: true });

/** The problem of an action that was refused; none if it was done. */
export async function attempt(action: Promise<unknown>): Promise<Problem | null> {
  try {
    await action;
    return null;
  } catch (error) {
    if (error instanceof Refused) return error.problem;
    throw error;
  }
}

/** Whether a query was refused since it would miss rows of the past, which one may choose to do without. */
export const couldBePartial = (problem: Problem | null): boolean => /\bpartial\b/i.test(problem?.help ?? "");
