import type { Found } from "./checking";

export interface Unnamed {
  before: string;
  select: string;
}

/**
 * The query at the end of a script that has no name yet, and what stands before it. The places
 * that the server tells count characters, not UTF-16 units.
 */
export function unnamedQuery(found: Found): Unnamed | null {
  const last = found.statements.at(-1);
  if (found.errors.length || last?.kind !== "select") return null;
  const characters = [...found.sql];
  const select = characters.slice(last.start, last.end).join("").trim();
  return select ? { before: characters.slice(0, last.start).join(""), select } : null;
}

/** A name that no query has. */
export function freeName(taken: string[]): string {
  const known = new Set(taken.map((each) => each.toLowerCase()));
  let number = 1;
  while (known.has(`query${number}`)) number += 1;
  return `query${number}`;
}
