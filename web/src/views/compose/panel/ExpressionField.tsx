import { autocompletion, closeBrackets, completionKeymap, startCompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { sql } from "@codemirror/lang-sql";
import { syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, placeholder } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import { useEffect, useRef, type RefObject } from "react";
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
  const sent = useRef<string[]>([]);
  const known = useRef<Known>(null!);
  known.current = { words, isBad: problem !== null, change: (text) => (sent.current.push(text), change(text)) };
  useEffect(() => {
    const made = new EditorView({
      parent: place.current!,
      state: EditorState.create({ doc: value, extensions: extensions(label, example, known) }),
    });
    view.current = made;
    return () => made.destroy();
  }, []); // the view lives as long as the field; what changes is told below
  useEffect(() => {
    // What was typed here comes back as the value, perhaps when more was typed: that is no news.
    const echo = sent.current.indexOf(value);
    if (echo >= 0) sent.current.splice(0, echo + 1);
    else replace(view.current!, value);
  }, [value]);
  useEffect(() => {
    const { state } = view.current!;
    view.current!.dispatch(setDiagnostics(state, problem ? marks(problem, state.doc.length) : []));
  }, [problem]);
  const labels = words.map((word) => word.label).join();
  useEffect(() => {
    // A quick writer may be ahead of the check that tells the columns: offer them when they come.
    if (view.current!.hasFocus && isInWord(view.current!.state)) startCompletion(view.current!);
  }, [labels]);
  return <div className={`expression${problem ? " bad" : ""}`} ref={place} />;
}

function isInWord(state: EditorState): boolean {
  const at = state.selection.main.head;
  return /[\w.]/.test(state.sliceDoc(Math.max(0, at - 1), at));
}

function replace(view: EditorView, text: string): void {
  const { doc } = view.state;
  if (doc.toString() !== text) view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
}

interface Known {
  words: Word[];
  change: (value: string) => void;
  isBad: boolean;
}

function extensions(label: string, example: string, known: RefObject<Known>) {
  return [
    history(),
    closeBrackets(),
    // Enter has no other meaning in one line, so that it may take what was offered just now.
    autocompletion({
      override: [(context) => completion(context, known.current.words)],
      icons: false,
      interactionDelay: 0,
    }),
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
