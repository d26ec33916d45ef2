import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import { sql } from "@codemirror/lang-sql";
import type { Extension } from "@codemirror/state";
import type { Catalog, Column, SourceEntry } from "../../../api/types";
import { dialect, functions } from "./dialect";

export const entriesOf = (catalog: Catalog | null): SourceEntry[] =>
  catalog ? [...catalog.streams, ...catalog.relations, ...catalog.derived] : [];

/** Highlighting and completion: keywords, what the catalog has, and the columns of what the text names. */
export function language(catalog: Catalog | null): Extension {
  const entries = entriesOf(catalog);
  const option = (column: Column): Completion => ({ label: column.name, type: "property", detail: column.type });
  const schema = Object.fromEntries(entries.map((each) => [each.name, each.columns.map(option)]));
  return [
    sql({ dialect, schema, upperCaseKeywords: true }),
    dialect.language.data.of({ autocomplete: (context: CompletionContext) => columns(context, entries) }),
  ];
}

function columns(context: CompletionContext, entries: SourceEntry[]): CompletionResult | null {
  const word = context.matchBefore(/[\w`]+/);
  const before = word ? context.state.sliceDoc(word.from - 1, word.from) : "";
  if ((!word && !context.explicit) || before === ".") return null;
  return {
    from: word?.from ?? context.pos,
    options: [...columnOptions(entries, context.state.doc.toString()), ...FUNCTION_OPTIONS],
    validFor: /^[\w`]*$/,
  };
}

const FUNCTION_OPTIONS: Completion[] = functions.map((name) => ({
  label: name.toUpperCase(),
  type: "function",
  apply: `${name.toUpperCase()}(`,
}));

/** The columns of those streams and relations that a text names. */
export function columnOptions(entries: SourceEntry[], text: string): Completion[] {
  const named = new Set(text.toLowerCase().match(/\w+/g));
  const found = new Map<string, Completion>();
  for (const entry of entries.filter((each) => named.has(each.name.toLowerCase())))
    for (const column of entry.columns) {
      const known = found.get(column.name);
      const detail = known ? `${known.detail}, ${entry.name}` : `${column.type} · ${entry.name}`;
      found.set(column.name, { label: column.name, type: "property", detail, boost: 2 });
    }
  return [...found.values()];
}
