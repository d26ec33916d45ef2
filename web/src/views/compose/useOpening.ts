import { useCallback, useEffect, useState, type Dispatch } from "react";
import { post, Refused } from "../../api/client";
import type { Problem } from "../../api/types";
import { linkTo } from "../../shell/routes";
import type { Action } from "./model/composer";
import type { CheckedPlan, Composed, Level } from "./model/contract";
import { emptyDraft, fromComposed, type Draft } from "./model/draft";
import { arrange } from "./model/layout";

interface Doing {
  /** The query that the address names. */
  name: string;
  draft: Draft;
  checked: CheckedPlan | null;
  dispatch: Dispatch<Action>;
  /** What to do when a plan has come. */
  loaded: () => void;
}

/** Opens the plans of queries; what is on the canvas at the other level, too. */
export function useOpening({ name, draft, checked, dispatch, loaded }: Doing) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = useCallback(
    async (query: string, level: Level, title: string, opened: string | null) => {
      try {
        const plan = await post<Composed>("compose/open", { query, level });
        dispatch({ type: "load", draft: arrange(fromComposed(plan, title, opened)), topic: OPENED });
        setProblem(null);
        loaded();
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        setProblem(error.problem);
      }
    },
    [dispatch, loaded],
  );
  useEffect(() => setProblem(null), [draft]);
  useEffect(() => {
    if (!name) return;
    void load(name, "logical", name, name);
    // From here on it is a draft, which a reload must not overwrite.
    history.replaceState(null, "", linkTo("compose"));
    dispatchEvent(new HashChangeEvent("hashchange"));
  }, [name, load]);
  const switchTo = (level: Level) => {
    if (level === draft.level) return;
    if (checked?.complete && checked.sql) void load(checked.sql, level, draft.name, draft.opened);
    else if (draft.opened) void load(draft.opened, level, draft.name, draft.opened);
    else dispatch({ type: "load", draft: emptyDraft(level) });
  };
  return { problem, switchTo };
}

/** Loading and laying out are one step to undo. */
export const OPENED = "opened";
