import type { Column } from "../../../api/types";

const NUMBERS = /INT|LONG|FLOAT|DOUBLE|DECIMAL|NUMERIC|REAL/i;
const TEXTS = /STRING|VARCHAR|CHAR|TEXT/i;
/** Names of what is worth adding up or ranking; other numbers may just tell rows apart. */
const MEASURES = /price|amount|value|cost|size|quantity|total|temp|speed|rate|score|load|duration|reserve/i;

const KEYS = /(^|[._])id$/i;

export const isNumber = ({ type }: Column): boolean => NUMBERS.test(type);
export const isMeasure = (column: Column): boolean => isNumber(column) && MEASURES.test(column.name);
export const isText = ({ type }: Column): boolean => TEXTS.test(type);

/** The numbers among columns that look like measures, or else those that do not look like keys. */
export function measures(columns: readonly Column[]): Column[] {
  const likely = columns.filter(isMeasure);
  return likely.length > 0 ? likely : columns.filter((column) => isNumber(column) && !KEYS.test(column.name));
}

/** A column without the alias that it comes from. */
export const bare = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** Columns under the shortest names that are not ambiguous. */
export function handy(columns: readonly Column[]): Column[] {
  const all = columns.map((column) => bare(column.name));
  const once = (name: string) => all.filter((each) => each === name).length === 1;
  return columns.map((column) => (once(bare(column.name)) ? { ...column, name: bare(column.name) } : column));
}
