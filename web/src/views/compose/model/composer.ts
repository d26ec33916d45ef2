import { partOf, type Draft } from "./draft";
import { begin, redo, step, undo, type History } from "./history";

export interface Composer {
  history: History<Draft>;
  selected: string[];
}

/** A change of the draft, which may also say what is selected then. */
export type Change = (draft: Draft) => Draft | [Draft, string[]];

export type Action =
  | { type: "edit"; change: Change; topic?: string }
  | { type: "load"; draft: Draft; topic?: string }
  | { type: "select"; ids: string[] }
  | { type: "undo" }
  | { type: "redo" };

export const compose = (draft: Draft): Composer => ({ history: begin(draft), selected: [] });

export function reduce(state: Composer, action: Action): Composer {
  switch (action.type) {
    case "edit":
      return edited(state, action.change, action.topic ?? null);
    case "load": // undone like any other step, so that nothing is lost by opening a query
      return { history: step(state.history, action.draft, action.topic ?? null), selected: [] };
    case "select":
      return same(state.selected, action.ids) ? state : { ...state, selected: action.ids };
    case "undo":
      return pruned({ ...state, history: undo(state.history) });
    case "redo":
      return pruned({ ...state, history: redo(state.history) });
  }
}

function edited(state: Composer, change: Change, topic: string | null): Composer {
  const result = change(state.history.present);
  const [draft, selected] = Array.isArray(result) ? result : [result, state.selected];
  return pruned({ history: step(state.history, draft, topic), selected });
}

/** What is gone cannot be selected. */
function pruned(state: Composer): Composer {
  const selected = state.selected.filter((id) => partOf(state.history.present, id));
  return selected.length === state.selected.length ? state : { ...state, selected };
}

const same = (one: string[], other: string[]): boolean =>
  one.length === other.length && one.every((id, at) => id === other[at]);
