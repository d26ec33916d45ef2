import { useEffect, useState } from "react";
import { post, Refused } from "../../api/client";
import type { Problem } from "../../api/types";
import type { CheckedPlan, Composed } from "./model/contract";
import { toComposed, type Draft } from "./model/draft";

const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8000;

/** Away, too many requests, or too slow just now, as a server that is starting may be: ask again. */
const PASSING = new Set([0, 408, 429, 503]);

export interface Checking {
  checked: CheckedPlan | null;
  /** Whether an answer about the newest draft is still to come. */
  busy: boolean;
  refused: Problem | null;
}

/** Has every change of a draft checked, when it rests for a moment. */
export function useChecked(draft: Draft): Checking {
  const [{ about, ...state }, setState] = useState<Checking & { about: Kinds }>(NOTHING);
  const wanted = meaning(draft);
  useEffect(() => {
    const stop = new AbortController();
    setState((old) => ({ ...old, busy: true }));
    const check = (pause: number) => {
      timer = setTimeout(() => {
        post<CheckedPlan>("compose/check", JSON.parse(wanted), stop.signal)
          .then((checked) => setState({ checked, busy: false, refused: null, about: kinds(wanted) }))
          .catch((error) => {
            if (!(error instanceof Refused)) return;
            setState((old) => ({ ...old, busy: false, refused: error.problem }));
            if (PASSING.has(error.status)) check(Math.min(2 * pause, LONGEST_PAUSE_MS));
          });
      }, pause);
    };
    let timer: ReturnType<typeof setTimeout>;
    check(PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [wanted]);
  const isOther = draft.parts.some((part) => about.has(part.id) && about.get(part.id) !== part.kind);
  return isOther ? { ...state, checked: null } : state;
}

/** What was checked, by id: of another plan that has the same ids, nothing was said yet. */
type Kinds = ReadonlyMap<string, string>;

const NOTHING = { checked: null, busy: false, refused: null, about: new Map<string, string>() };

const kinds = (plan: string): Kinds =>
  new Map((JSON.parse(plan) as Composed).nodes.map((node) => [node.id, node.kind]));

/** What the server is to check, as a text: moving an operator changes nothing in it. */
function meaning(draft: Draft): string {
  const plan = toComposed(draft);
  return JSON.stringify({ ...plan, nodes: plan.nodes.map((node) => ({ ...node, x: 0, y: 0 })) });
}
