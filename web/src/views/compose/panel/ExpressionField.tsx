import { autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { sql } from "@codemirror/lang-sql";
import { syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { useEffect, useRef } from "react";
import type { PlanProblem } from "../model/contract";
import { completion, type Word } from "./words";

interface Props {
  label: string;
  value: string;
  example: string;
  words: Word[];
  problem: PlanProblem | null;
  change: (value: string) => void;
}

/** A line of SQL that completes the columns that come in and marks what is wrong at its place. */
export function ExpressionField({ label, value, example, words, problem, change }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const known = useRef({ words, change, isBad: false });
  known.current = { words, change, isBad: problem !== null };
  useEffect(() => {
    const made = new EditorView({
      parent: place.current!,
      state: EditorState.create({ doc: value, extensions: extensions(label, example, known) }),
    });
    view.current = made;
    return () => made.destroy();
  }, []); // the view lives as long as the field; what changes is told below
  useEffect(() => {
    const doc = view.current!.state.doc;
    if (doc.toString() !== value)
      view.current!.dispatch({ changes: { from: 0, to: doc.length, insert: value } });
  }, [value]);
  useEffect(() => {
    const { state } = view.current!;
    view.current!.dispatch(setDiagnostics(state, problem ? marks(problem, state.doc.length) : []));
  }, [problem]);
  return <div className={`expression${problem ? " bad" : ""}`} ref={place} />;
}

interface Known {
  words: Word[];
  change: (value: string) => void;
  isBad: boolean;
}

function extensions(label: string, example: string, known: { readonly current: Known }) {
  return [
    history(),
    closeBrackets(),
    autocompletion({ override: [(context) => completion(context, known.current.words)], icons: false }),
    keymap.of([...completionKeymap, { key: "Enter", run: () => true }, ...historyKeymap, ...defaultKeymap]),
    sql(),
    syntaxHighlighting(classHighlighter),
    placeholder(example),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of(() => ({
      "aria-label": label,
      "aria-invalid": String(known.current.isBad),
      spellcheck: "false",
    })),
    // One line: what is pasted with line breaks becomes one.
    EditorState.transactionFilter.of((change) => (change.newDoc.lines > 1 ? [] : change)),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) known.current.change(update.state.doc.toString());
    }),
  ];
}

/** Where the error is; all of the text if it has no place. */
function marks(problem: PlanProblem, end: number): Diagnostic[] {
  if (end === 0) return [];
  const from = problem.column ? Math.min(problem.column - 1, end - 1) : 0;
  const to = problem.column ? Math.min(from + (problem.length ?? 1), end) : end;
  return [{ from, to, severity: "error", message: problem.message }];
}
