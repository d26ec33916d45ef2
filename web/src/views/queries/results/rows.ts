import type { Column, Value } from "../../../api/types";

/** A value as a table shows it. */
export function shown(value: Value): string {
  if (value === null) return "NULL";
  if (typeof value === "number") return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(12)));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Smaller or larger in the order of a table: NULL first, numbers by size. */
export function compare(a: Value, b: Value): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return shown(a).localeCompare(shown(b), "en", { numeric: true });
}

/** How wide a column is, in characters: fixed from the first rows on, so that nothing moves later. */
export function widthOf(column: Column, texts: string[]): number {
  const longest = Math.max(column.name.length + 2, ...texts.map((each) => each.length));
  return Math.min(Math.max(longest + 2, 8), 36);
}
