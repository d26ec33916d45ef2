import { useEffect, useState } from "react";
import { get } from "../api/client";
import type { QueryEntry } from "../api/types";

export type Queries = ReadonlyMap<string, QueryEntry>;

/** The queries by name, as they were when a number changed: how they tell time, and their sizes. */
export function useQueries(revision: number): Queries {
  const [queries, setQueries] = useState<Queries>(new Map());
  useEffect(() => {
    const stop = new AbortController();
    get<QueryEntry[]>("queries", stop.signal)
      .then((found) => setQueries(new Map(found.map((each) => [each.name, each]))))
      .catch(() => undefined); // then time is shown in numbers
    return () => stop.abort();
  }, [revision]);
  return queries;
}
