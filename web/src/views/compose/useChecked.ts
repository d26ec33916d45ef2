import { useEffect, useState } from "react";
import { post, Refused } from "../../api/client";
import type { Problem } from "../../api/types";
import type { CheckedPlan } from "./model/contract";
import { toComposed, type Draft } from "./model/draft";

const PAUSE_MS = 250;

export interface Checking {
  checked: CheckedPlan | null;
  /** Whether an answer about the newest draft is still to come. */
  busy: boolean;
  refused: Problem | null;
}

/** Has every change of a draft checked, when it rests for a moment. */
export function useChecked(draft: Draft): Checking {
  const [state, setState] = useState<Checking>({ checked: null, busy: false, refused: null });
  const wanted = meaning(draft);
  useEffect(() => {
    const stop = new AbortController();
    setState((old) => ({ ...old, busy: true }));
    const timer = setTimeout(() => {
      post<CheckedPlan>("compose/check", JSON.parse(wanted), stop.signal)
        .then((checked) => setState({ checked, busy: false, refused: null }))
        .catch((error) => {
          if (error instanceof Refused) setState((old) => ({ ...old, busy: false, refused: error.problem }));
        });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [wanted]);
  return state;
}

/** What the server is to check, as a text: moving an operator changes nothing in it. */
function meaning(draft: Draft): string {
  const plan = toComposed(draft);
  return JSON.stringify({ ...plan, nodes: plan.nodes.map((node) => ({ ...node, x: 0, y: 0 })) });
}
