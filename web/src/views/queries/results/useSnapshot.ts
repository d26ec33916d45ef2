import { useEffect, useMemo, useRef, useState } from "react";
import { get, part } from "../../../api/client";
import type { Table } from "../../../api/types";
import { snapshotAt, type Held, type Known } from "./intervals";

const MOST = 20_000;
const REST_MS = 400;

/** The rows that hold at an instant: from what is here, or from the server where some are not. */
export function useSnapshot(name: string, known: Known, at: number | null): Held[] {
  const here = at !== null && at >= known.wholeFrom;
  const own = useMemo(() => (here ? snapshotAt(known.held, at) : null), [known, at, here]);
  const fetched = useFetched(name, here ? null : at);
  return own ?? fetched;
}

/** Asks at most a few times a second, whatever the speed of time. */
function useFetched(name: string, at: number | null): Held[] {
  const [held, setHeld] = useState<Held[]>([]);
  const wanted = useRef(at);
  wanted.current = at;
  const asking = useRef(false);
  useEffect(() => {
    if (at === null || asking.current) return;
    asking.current = true;
    void ask();
    async function ask() {
      const instant = wanted.current;
      if (instant !== null)
        await get<Table>(`queries/${part(name)}/snapshot?at=${instant}&limit=${MOST}`).then(
          (table) => setHeld(rowsOf(table)),
          () => setHeld([]),
        );
      await new Promise((done) => setTimeout(done, REST_MS));
      asking.current = false;
      if (wanted.current !== null && wanted.current !== instant) {
        asking.current = true;
        void ask();
      }
    }
  }, [name, at]);
  return held;
}

export function rowsOf(table: Table): Held[] {
  return table.rows.map((row, n) => ({
    row,
    key: JSON.stringify(row),
    from: table.valid_from[n]!,
    to: table.valid_to[n] ?? null,
  }));
}
