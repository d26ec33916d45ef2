import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { lintKeymap } from "@codemirror/lint";
import { Compartment, EditorState, Prec } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { useEffect, useRef, type RefObject } from "react";
import type { Catalog, Problem } from "../../../api/types";
import { checking, type Found } from "./checking";
import { entriesOf, language } from "./completion";
import { placeOf } from "./places";
import { theme } from "./theme";

interface Wishes {
  label: string;
  text: string;
  catalog: Catalog | null;
  hint?: string;
  /** The editor, for those who put names into it or go to a place. */
  handle: RefObject<EditorView | null>;
  changed: (text: string) => void;
  checked: (found: Found | null) => void;
  run: () => void;
}

/** An editor for our SQL that says what is wrong where it is wrong. Escape, then Tab, leaves it. */
export function SqlEditor({ label, text, catalog, hint, handle, changed, checked, run }: Wishes) {
  const place = useRef<HTMLDivElement>(null);
  const words = useRef(new Compartment());
  // The editor lives longer than a rendering: it asks for what is wished now.
  const wishes = useRef({ changed, checked, run });
  useEffect(() => {
    wishes.current = { changed, checked, run };
  });
  useEffect(() => {
    const view = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: text,
        extensions: [
          Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => (wishes.current.run(), true) }])),
          basics(label, hint ?? ""),
          words.current.of(language(catalog)),
          checking((found) => wishes.current.checked(found)),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) wishes.current.changed(update.state.doc.toString());
          }),
        ],
      }),
    });
    handle.current = view;
    return () => {
      handle.current = null;
      view.destroy();
    };
    // Made once: what changes later is dispatched into it.
  }, []);
  // Rates come four times a second; only other names or columns are another language.
  const names = JSON.stringify(entriesOf(catalog).map((each) => [each.name, each.columns]));
  useEffect(() => {
    handle.current?.dispatch({ effects: words.current.reconfigure(language(catalog)) });
  }, [names]);
  return <div className="q-editor" ref={place} />;
}

function basics(label: string, hint: string) {
  return [
    lineNumbers(),
    highlightActiveLineGutter(),
    highlightActiveLine(),
    drawSelection(),
    history(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: false }),
    placeholder(hint),
    theme,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({
      "aria-label": label,
      "aria-description": "Escape, then Tab, leaves the editor",
      spellcheck: "false",
    }),
    keymap.of([
      ...closeBracketsKeymap,
      ...completionKeymap,
      ...lintKeymap,
      ...defaultKeymap,
      ...historyKeymap,
      indentWithTab,
    ]),
  ];
}

/** Puts a text where the cursor is. */
export function insertText(view: EditorView, text: string): void {
  view.dispatch(view.state.replaceSelection(text), { scrollIntoView: true });
  view.focus();
}

/** Gives the editor another text; undo brings the old one back. */
export function replaceText(view: EditorView, text: string): void {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
  view.focus();
}

/** Selects the place of a problem. */
export function goTo(view: EditorView, problem: Problem): void {
  const { from, to } = placeOf(view.state.doc, problem);
  view.dispatch({ selection: { anchor: from, head: to }, scrollIntoView: true });
  view.focus();
}
