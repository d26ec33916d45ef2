import { useSyncExternalStore } from "react";

export type View = "graph" | "queries" | "compose" | "resources";
export interface Route {
  view: View;
  /** What follows in the address, as the name of a query. */
  rest: string;
}

const VIEWS: readonly View[] = ["graph", "queries", "compose", "resources"];

/** The view of an address like `#/queries/hot`. */
export function parseRoute(hash: string): Route {
  const [view = "", ...rest] = hash.replace(/^#\/?/, "").split("/");
  const known = VIEWS.find((each) => each === view);
  return { view: known ?? "graph", rest: known ? decodeURIComponent(rest.join("/")) : "" };
}

export const linkTo = (view: View, rest = ""): string =>
  rest ? `#/${view}/${encodeURIComponent(rest)}` : `#/${view}`;

export function useRoute(): Route {
  const hash = useSyncExternalStore(
    (changed) => {
      addEventListener("hashchange", changed);
      return () => removeEventListener("hashchange", changed);
    },
    () => location.hash,
  );
  return parseRoute(hash);
}
