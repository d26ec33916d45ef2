import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Column } from "../../../api/types";
import { bare, handy, measures } from "../model/columns";
import type { SettingForm } from "../model/contract";

/** A word that an expression may continue with. */
export interface Word {
  label: string;
  detail?: string;
  type: "property" | "function" | "keyword";
  apply?: string;
  boost?: number;
}

const AGGREGATES = ["COUNT", "SUM", "AVG", "MIN", "MAX", "STDDEV", "VARIANCE"];
const FUNCTIONS = [
  "ABS", "COALESCE", "CONCAT", "FLOOR", "CEIL", "GREATEST", "LEAST", "LENGTH", "LOWER", "ROUND", "UPPER",
];
const KEYWORDS = [
  "AND", "OR", "NOT", "IS NULL", "IS NOT NULL", "BETWEEN", "LIKE", "IN", "CASE", "WHEN", "THEN", "ELSE", "END",
  "CAST", "AS",
];

/** The columns that come in first, then what fits the kind of text. */
export function wordsFor(form: SettingForm, columns: readonly Column[]): Word[] {
  const named = handy(columns).map(
    ({ name, type }): Word => ({ label: name, detail: type, type: "property", boost: 2 }),
  );
  if (form.type === "order") return [...named, ...["ASC", "DESC"].map(keyword)];
  const calls = form.type === "aggregates" ? AGGREGATES : FUNCTIONS;
  return [...named, ...calls.map(call), ...KEYWORDS.map(keyword)];
}

const keyword = (label: string): Word => ({ label, type: "keyword" });
const call = (label: string): Word => ({ label, type: "function", detail: "()", boost: 1 });

/** Completes names with dots in them as one word. */
export function completion(context: CompletionContext, words: readonly Word[]): CompletionResult | null {
  const before = context.matchBefore(/[\w.#]+/);
  if (!before && !context.explicit) return null;
  return { from: before?.from ?? context.pos, options: [...words], validFor: /^[\w.#]*$/ };
}

const MOST = 6;

/** Texts to begin a list with, at one press: what is not in it yet. */
export function suggestions(form: SettingForm, columns: readonly Column[], chosen: readonly string[]): string[] {
  return likely(form.type, handy(columns))
    .filter((text) => !chosen.includes(text))
    .slice(0, MOST);
}

function likely(type: SettingForm["type"], columns: readonly Column[]): string[] {
  const numbers = measures(columns).map((column) => column.name);
  if (type === "order") return numbers.map((name) => `${name} DESC`);
  if (type !== "aggregates") return columns.map((column) => column.name);
  const called = (call: string, name: string) => `${call.toUpperCase()}(${name}) AS ${call}_${bare(name)}`;
  const each = numbers.flatMap((name) => ["max", "avg", "sum"].map((call) => called(call, name)));
  return ["COUNT(*) AS n", ...each];
}
