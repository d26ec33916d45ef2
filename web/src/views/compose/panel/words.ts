import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { Column } from "../../../api/types";
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
const FUNCTIONS = ["ABS", "COALESCE", "CONCAT", "FLOOR", "CEIL", "GREATEST", "LEAST", "LENGTH", "LOWER", "ROUND", "UPPER"];
const KEYWORDS = ["AND", "OR", "NOT", "IS NULL", "IS NOT NULL", "BETWEEN", "LIKE", "IN", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "AS"];

/** The columns that come in first, then what fits the kind of text. */
export function wordsFor(form: SettingForm, columns: readonly Column[]): Word[] {
  const named = handy(columns).map(({ name, type }): Word => ({ label: name, detail: type, type: "property", boost: 2 }));
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

const NUMBERS = /INT|LONG|FLOAT|DOUBLE|DECIMAL|NUMERIC|REAL/i;
/** Adding up or averaging what only tells rows apart says nothing. */
const KEYS = /(^|_)id$/i;
const isMeasure = ({ name, type }: Column): boolean => NUMBERS.test(type) && !KEYS.test(bare(name));
const MOST = 6;

/** Texts to begin a list with, at one press: what is not in it yet. */
export function suggestions(form: SettingForm, columns: readonly Column[], chosen: readonly string[]): string[] {
  const known = handy(columns);
  const names = known.map((column) => column.name);
  const numbers = known.filter(isMeasure).map((column) => column.name);
  const all =
    form.type === "aggregates"
      ? ["COUNT(*) AS n", ...numbers.flatMap((name) => [`MAX(${name}) AS max_${bare(name)}`, `AVG(${name}) AS avg_${bare(name)}`])]
      : form.type === "order"
        ? numbers.map((name) => `${name} DESC`)
        : names;
  return all.filter((text) => !chosen.includes(text)).slice(0, MOST);
}

const bare = (name: string): string => name.slice(name.lastIndexOf(".") + 1);

/** Columns under the shortest names that are not ambiguous; those of the engine itself are left out. */
export function handy(columns: readonly Column[]): Column[] {
  const all = columns.map((column) => bare(column.name));
  const once = (name: string) => all.filter((each) => each === name).length === 1;
  return columns
    .filter((column) => !column.name.includes("#"))
    .map((column) => (once(bare(column.name)) ? { ...column, name: bare(column.name) } : column));
}
