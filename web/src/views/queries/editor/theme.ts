import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--sql-keyword)", fontWeight: "600" },
  { tag: [tags.typeName], color: "var(--sql-type)" },
  { tag: [tags.standard(tags.name)], color: "var(--sql-function)" },
  { tag: [tags.string], color: "var(--sql-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--sql-number)" },
  { tag: [tags.comment], color: "var(--quiet)", fontStyle: "italic" },
  { tag: [tags.operator, tags.punctuation], color: "var(--quiet)" },
]);

const frame = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--card)", color: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", fontSize: "14px", lineHeight: "1.6" },
  ".cm-content": { padding: "10px 0", caretColor: "var(--accent)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  ".cm-gutters": { backgroundColor: "var(--card)", color: "var(--quiet)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--q-hover)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft) !important",
  },
  ".cm-matchingBracket": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  ".cm-placeholder": { color: "var(--quiet)" },
  ".cm-tooltip": {
    backgroundColor: "var(--card)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    boxShadow: "var(--q-shadow)",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete > ul > li": { padding: "3px 10px !important" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--back)" },
  ".cm-completionDetail": { color: "inherit", opacity: "0.75", fontStyle: "normal", marginLeft: "1.2em" },
  ".cm-diagnostic": { padding: "8px 12px", borderLeftWidth: "3px", maxWidth: "32rem" },
  ".cm-diagnosticAction": {
    backgroundColor: "var(--accent)",
    color: "var(--back)",
    borderRadius: "6px",
    padding: "2px 10px",
    margin: "6px 0 0",
    display: "block",
    fontSize: "13px",
  },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warn)" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    borderBottom: "2px solid var(--bad)",
    backgroundColor: "var(--bad-soft)",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    borderBottom: "2px dotted var(--warn)",
    backgroundColor: "var(--warn-soft)",
  },
  ".cm-panels": { backgroundColor: "var(--back)", color: "var(--text)", borderColor: "var(--line)" },
});

export const theme = [frame, syntaxHighlighting(colours)];
