import { createContext, use, type Dispatch } from "react";
import type { Catalog } from "../../api/types";
import type { Action } from "./model/composer";
import type { CheckedPlan, Operator } from "./model/contract";
import type { Draft } from "./model/draft";

export interface Composing {
  draft: Draft;
  selected: string[];
  dispatch: Dispatch<Action>;
  /** The operators of the draft's level, by kind. */
  operators: ReadonlyMap<string, Operator>;
  catalog: Catalog | null;
  /** The names of the queries that there are. */
  queries: string[];
  /** What the server said of the draft last; null before it said anything. */
  checked: CheckedPlan | null;
}

export const ComposingContext = createContext<Composing | null>(null);

export function useComposing(): Composing {
  const found = use(ComposingContext);
  if (!found) throw new Error("outside of the composer");
  return found;
}
