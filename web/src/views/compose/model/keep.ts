import { emptyDraft, type Draft } from "./draft";

const KEY = "tidemill-compose";

/** The draft that was left here; what cannot be read is nothing. */
export function kept(): Draft {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "") as Draft;
    return Array.isArray(found.parts) ? { ...emptyDraft(), ...found } : emptyDraft();
  } catch {
    return emptyDraft();
  }
}

export const keep = (draft: Draft): void => localStorage.setItem(KEY, JSON.stringify(draft));
