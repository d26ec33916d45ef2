import { useEffect, type Dispatch } from "react";
import type { Action } from "./model/composer";

interface Doing {
  dispatch: Dispatch<Action>;
  duplicateSelected: () => void;
}

/** Keys for the whole view; fields of text keep theirs. */
export function useKeys({ dispatch, duplicateSelected }: Doing): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || isWriting(event.target)) return;
      const key = event.key.toLowerCase();
      if (key === "z") dispatch({ type: event.shiftKey ? "redo" : "undo" });
      else if (key === "y") dispatch({ type: "redo" });
      else if (key === "d") duplicateSelected();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [dispatch, duplicateSelected]);
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest("input, textarea, [contenteditable]") !== null;
