import { useMemo, useState } from "react";
import type { Problem, QueryEntry } from "../../../api/types";
import type { Held, Known } from "./intervals";
import { inOrder, usual, type Order } from "./order";
import { RowTable, type Line } from "./RowTable";
import { clock } from "./times";
import { useSnapshot } from "./useSnapshot";

interface Props {
  query: QueryEntry;
  known: Known;
  at: number | null;
  problem: Problem | null;
  look: (at: number | null) => void;
}

/** The rows that hold at an instant. */
export function SnapshotTable({ query, known, at, problem, look }: Props) {
  const [order, setOrder] = useState<Order | null>(null);
  const columns = known.columns.length ? known.columns : query.columns;
  const held = useSnapshot(query.name, known, at);
  const lines = useMemo(
    () => linesOf(inOrder(held, order ? [order] : usual(query.order, known.columns)), known),
    [held, order, query, known],
  );
  return (
    <>
      <RowTable
        label="Snapshot"
        columns={columns}
        lines={lines}
        after={["from", "to"]}
        sorted={order}
        sort={(column) => setOrder(next(order, column))}
      >
        {lines.length === 0 && <Nothing query={query} known={known} at={at} problem={problem} look={look} />}
      </RowTable>
      <p className="q-count quiet numbers" role="status">
        {lines.length === 1 ? "1 row holds" : `${lines.length.toLocaleString("en")} rows hold`}
        {known.wholeFrom > -Infinity &&
          known.wholeFrom < Infinity &&
          ` · the picture has all rows from ${clock(known.wholeFrom, known.domain)} on`}
      </p>
    </>
  );
}

/** Up, then down, then as it was. */
function next(order: Order | null, column: number): Order | null {
  if (order?.column !== column) return { column, down: false };
  return order.down ? null : { column, down: true };
}

/** Equal rows may hold more than once. */
function linesOf(held: Held[], known: Known): Line[] {
  const copies = new Map<string, number>();
  return held.map(({ row, key, from, to }) => {
    const copy = copies.get(key) ?? 0;
    copies.set(key, copy + 1);
    const end =
      to !== null && known.completeUntil !== null && to >= known.completeUntil ? "…" : clock(to, known.domain);
    return { key: `${key}#${copy}`, row, after: [clock(from, known.domain), end] };
  });
}

const MEND = "Mend what it asks for under SQL, or start it again when its streams bring what it can compute.";

function Nothing({ query, known, at, problem, look }: Props) {
  if (problem || query.state !== "running")
    return (
      <div className="q-nothing">
        <p>{problem?.message ?? (query.state === "failed" ? "This query failed." : "This query does not run.")}</p>
        <p className="quiet">
          {problem?.help ?? (query.state === "failed" ? MEND : "Start it, and its results appear here.")}
        </p>
      </div>
    );
  if (known.columns.length === 0) return <p className="q-nothing quiet">Asking for the results…</p>;
  const last = at === null ? null : lastBefore(known.held, at);
  if (last === null)
    return (
      <div className="q-nothing">
        <p>No rows yet.</p>
        <p className="quiet">They appear as soon as time has come far enough for the first answer.</p>
      </div>
    );
  return (
    <div className="q-nothing">
      <p>No rows at this instant.</p>
      <button onClick={() => look(last)}>Go back to {clock(last, known.domain)}</button>
    </div>
  );
}

/** The last instant before one at which anything held. */
function lastBefore(held: readonly Held[], at: number): number | null {
  return held.reduce<number | null>(
    (best, { to }) => (to !== null && to <= at && (best === null || to - 1 > best) ? to - 1 : best),
    null,
  );
}
