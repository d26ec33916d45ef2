import { useCallback, useState } from "react";

const at = (name: string): string => `tidemill-draft:${name}`;

/** A text that survives a reload; `null` when there is none. The new query has the empty name. */
export function useDraft(name: string): [string | null, (text: string | null) => void] {
  const [draft, setDraft] = useState<string | null>(() => localStorage.getItem(at(name)));
  const keep = useCallback(
    (text: string | null) => {
      if (text === null) localStorage.removeItem(at(name));
      else localStorage.setItem(at(name), text);
      setDraft(text);
    },
    [name],
  );
  return [draft, keep];
}

/** Adds to the draft of a new query from elsewhere on the page. */
export function addToDraft(text: string): void {
  const known = localStorage.getItem(at("")) ?? "";
  localStorage.setItem(at(""), known && !/\s$/.test(known) ? `${known} ${text}` : known + text);
}
