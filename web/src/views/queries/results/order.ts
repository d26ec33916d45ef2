import type { Column, QueryEntry } from "../../../api/types";
import { isNumber } from "../editor/examples";
import type { Held } from "./intervals";
import { compare } from "./rows";

export interface Order {
  column: number;
  down: boolean;
  nullsFirst?: boolean;
}

/**
 * The order that the query asks for. Else rows keep their places while values change if they are
 * ordered by what is no number.
 */
export function usual(asked: QueryEntry["order"], columns: readonly Column[]): Order[] {
  const names = columns.map((column) => column.name);
  const orders = asked.map(({ column, descending, nulls_first }) => ({
    column: names.indexOf(column),
    down: descending,
    nullsFirst: nulls_first,
  }));
  if (orders.length && orders.every(({ column }) => column >= 0)) return orders;
  const first = columns.findIndex((column) => !isNumber(column));
  return [{ column: Math.max(0, first), down: false }];
}

/** Rows by one order after the other; what is equal in all of them by its values. */
export function inOrder(held: readonly Held[], orders: readonly Order[]): Held[] {
  return [...held].sort(
    (a, b) =>
      orders.reduce((found, order) => found || compared(a, b, order), 0) ||
      (a.key < b.key ? -1 : a.key > b.key ? 1 : 0),
  );
}

function compared(a: Held, b: Held, { column, down, nullsFirst = !down }: Order): number {
  const [x, y] = [a.row[column] ?? null, b.row[column] ?? null];
  if (x !== null && y !== null) return down ? -compare(x, y) : compare(x, y);
  return nullsFirst ? compare(x, y) : -compare(x, y);
}
