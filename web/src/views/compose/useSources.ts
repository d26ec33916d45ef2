import { useMemo } from "react";
import type { Catalog, QueryEntry, SourceEntry } from "../../api/types";
import { useLive } from "../../live/hooks";

/**
 * The sources of the catalog and the names of the queries. Both are told anew with every tick,
 * mostly because of figures that do not matter here: only what differs in the rest is news.
 */
export function useSources(): { catalog: Catalog | null; queries: string[] } {
  const catalog = useLive<Catalog>("catalog", "catalog").data;
  const queries = useLive<QueryEntry[]>("queries", "queries").data;
  const shape = catalog && JSON.stringify([catalog.streams, catalog.relations, catalog.derived].map(shapes));
  const names = JSON.stringify(queries?.map((query) => query.name) ?? []);
  return {
    catalog: useMemo(() => catalog, [shape]),
    queries: useMemo(() => JSON.parse(names) as string[], [names]),
  };
}

const shapes = (entries: SourceEntry[]) => entries.map(({ name, columns }) => [name, columns]);
