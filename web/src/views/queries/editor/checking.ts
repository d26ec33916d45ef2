import { linter, lintGutter, type Diagnostic } from "@codemirror/lint";
import type { Extension, Text } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { post } from "../../../api/client";
import type { Checked, Problem } from "../../../api/types";
import { placeOf, suggestion } from "./places";

const REST_MS = 250;
const NOTHING: Checked = { statements: [], errors: [], warnings: [] };

/** What was found in a text, with the text. */
export interface Found extends Checked {
  sql: string;
}

/** Checks the text on the server while it is written; a newer text makes an older question void. */
export function checking(told: (found: Found | null) => void): Extension {
  let asked = new AbortController();
  const source = async (doc: Text): Promise<Diagnostic[]> => {
    asked.abort();
    asked = new AbortController();
    const mine = asked.signal;
    try {
      const found = await check(doc.toString(), mine);
      if (!mine.aborted) told(found);
      return marks(doc, found);
    } catch {
      // Without the server nothing is known of the text; the frame says that it is not heard.
      if (!mine.aborted) told(null);
      return [];
    }
  };
  return [linter((view) => source(view.state.doc), { delay: REST_MS }), lintGutter()];
}

/** What is wrong with a text, and what statements it has. */
export async function check(sql: string, signal?: AbortSignal): Promise<Found> {
  return { sql, ...(sql.trim() ? await post<Checked>("check", { sql }, signal) : NOTHING) };
}

function marks(doc: Text, checked: Checked): Diagnostic[] {
  return [
    ...checked.errors.map((each) => mark(doc, each, "error")),
    ...checked.warnings.map((each) => mark(doc, each, "warning")),
  ];
}

function mark(doc: Text, problem: Problem, severity: "error" | "warning"): Diagnostic {
  const better = suggestion(problem);
  const actions =
    better === null ? [] : [{ name: `Use ${better}`, apply: (view: EditorView) => mend(view, problem, better) }];
  return { ...placeOf(doc, problem), severity, message: problem.message, renderMessage: () => words(problem), actions };
}

/** Writes something better where a problem stands. */
export function mend(view: EditorView, problem: Problem, better: string): void {
  const { from, to } = placeOf(view.state.doc, problem);
  view.dispatch({ changes: { from, to, insert: better }, selection: { anchor: from + better.length } });
  view.focus();
}

function words(problem: Problem): Node {
  const box = document.createElement("div");
  box.append(Object.assign(document.createElement("strong"), { textContent: problem.message }));
  if (problem.help) box.append(Object.assign(document.createElement("div"), { textContent: problem.help }));
  return box;
}
