import type { Text } from "@codemirror/state";
import type { Problem } from "../../../api/types";

export interface Place {
  from: number;
  to: number;
}

/**
 * Where a problem stands in the text. The server counts characters, the editor counts UTF-16 units;
 * they differ behind characters like 𝄞. A problem without a place stands at the first word.
 */
export function placeOf(doc: Text, problem: Problem): Place {
  if (!problem.line || !problem.column) return firstWord(doc);
  const line = doc.line(Math.min(problem.line, doc.lines));
  const start = Math.min(line.from + units(line.text, problem.column - 1), doc.length);
  const rest = doc.sliceString(start);
  const end = Math.min(start + Math.max(units(rest, problem.length ?? 1), 1), doc.length);
  // At the end of the text there is nothing to underline but what comes before.
  return start < end ? { from: start, to: end } : { from: Math.max(start - 1, 0), to: start };
}

const units = (text: string, characters: number): number => [...text].slice(0, characters).join("").length;

function firstWord(doc: Text): Place {
  const text = doc.toString();
  const from = Math.max(text.search(/\S/), 0);
  return { from, to: Math.min(from + (/^\S+/.exec(text.slice(from))?.[0].length ?? 0), doc.length) };
}

/** What the help of a problem would write in its place: "did you mean `price`? …". */
export function suggestion({ line, help }: Problem): string | null {
  const found = /^did you mean (?:`([^`]+)`|([^`?]+))\?/.exec(help ?? "");
  return line && found ? (found[1] ?? found[2]!) : null;
}
