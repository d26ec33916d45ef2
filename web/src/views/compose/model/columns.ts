import type { Column } from "../../../api/types";

const NUMBERS = /INT|LONG|FLOAT|DOUBLE|DECIMAL|NUMERIC|REAL/i;
const TEXTS = /STRING|VARCHAR|CHAR|TEXT/i;
/** Names of what is worth adding up or ranking; other numbers may just tell rows apart. */
const MEASURES = /price|amount|value|cost|size|quantity|total|temp|speed|rate|score|load|duration|reserve/i;

export const isNumber = ({ type }: Column): boolean => NUMBERS.test(type);
export const isText = ({ type }: Column): boolean => TEXTS.test(type);

/** The numbers among columns, what looks like a measure first. */
export function measures(columns: readonly Column[]): Column[] {
  const numbers = columns.filter(isNumber);
  const likely = numbers.filter((column) => MEASURES.test(column.name));
  return likely.length > 0 ? likely : numbers;
}

/** A column without the alias that it comes from. */
export const bare = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** Columns under the shortest names that are not ambiguous. */
export function handy(columns: readonly Column[]): Column[] {
  const all = columns.map((column) => bare(column.name));
  const once = (name: string) => all.filter((each) => each === name).length === 1;
  return columns.map((column) => (once(bare(column.name)) ? { ...column, name: bare(column.name) } : column));
}
