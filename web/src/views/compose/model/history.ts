/** Something with its past and its future. */
export interface History<T> {
  past: T[];
  present: T;
  future: T[];
  /** What the last change was about; changes of the same (as of one text) are one step. */
  topic: string | null;
}

const LONGEST = 200;

export const begin = <T>(present: T): History<T> => ({ past: [], present, future: [], topic: null });

/** A step that can be undone; further steps with the same topic join it. */
export function step<T>(history: History<T>, present: T, topic: string | null = null): History<T> {
  if (present === history.present) return history;
  const joins = topic !== null && topic === history.topic;
  const past = joins ? history.past : [...history.past, history.present].slice(-LONGEST);
  return { past, present, future: [], topic };
}

export function undo<T>(history: History<T>): History<T> {
  const present = history.past.at(-1);
  if (present === undefined) return history;
  return {
    past: history.past.slice(0, -1),
    present,
    future: [history.present, ...history.future],
    topic: null,
  };
}

export function redo<T>(history: History<T>): History<T> {
  const [present, ...future] = history.future;
  if (present === undefined) return history;
  return { past: [...history.past, history.present], present, future, topic: null };
}
