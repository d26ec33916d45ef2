import { useCallback, useEffect, useState, type Dispatch } from "react";
import { post, Refused } from "../../api/client";
import type { Problem } from "../../api/types";
import type { Action } from "./model/composer";
import type { Composed, Level } from "./model/contract";
import { emptyDraft, fromComposed, hasPlaces } from "./model/draft";
import { arrange } from "./model/layout";

/** Opens the plan of the query that the address names, and at the other level when asked to. */
export function useOpening(name: string, level: Level, dispatch: Dispatch<Action>, fit: () => void) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const load = useCallback(
    (wanted: Level, signal?: AbortSignal) =>
      post<Composed>("compose/open", { query: name, level: wanted }, signal)
        .then((plan) => {
          const draft = fromComposed(plan, name);
          dispatch({ type: "load", draft: hasPlaces(plan) ? draft : arrange(draft) });
          setProblem(null);
          fit();
        })
        .catch((error) => error instanceof Refused && setProblem(error.problem)),
    [name, dispatch, fit],
  );
  useEffect(() => {
    if (!name) return;
    const stop = new AbortController();
    void load("logical", stop.signal);
    return () => stop.abort();
  }, [name, load]);
  const switchTo = useCallback(
    (wanted: Level) => {
      if (wanted === level) return;
      if (name) void load(wanted);
      else dispatch({ type: "load", draft: emptyDraft(wanted) });
    },
    [level, name, load, dispatch],
  );
  return { problem, switchTo };
}
