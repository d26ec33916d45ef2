import { useEffect, useState } from "react";
import { get } from "../../api/client";
import type { Domain, QueryEntry } from "../../api/types";

/** How each query tells time. */
export type Domains = ReadonlyMap<string, Domain>;

/** How the queries of a revision of the graph tell time; as numbers, as long as it is not known. */
export function useDomains(revision: number): Domains {
  const [domains, setDomains] = useState<Domains>(new Map());
  useEffect(() => {
    const stop = new AbortController();
    get<QueryEntry[]>("queries", stop.signal)
      .then((queries) => setDomains(new Map(queries.map((each) => [each.name, each.domain]))))
      .catch(() => undefined); // numbers are shown as they are
    return () => stop.abort();
  }, [revision]);
  return domains;
}
