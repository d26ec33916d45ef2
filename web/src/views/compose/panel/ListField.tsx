import type { PlanProblem } from "../model/contract";
import { ExpressionField } from "./ExpressionField";
import type { FieldProps } from "./Field";
import { suggestions, wordsFor } from "./words";

/** A list of expressions: one line each, with a press to add what is likely. */
export function ListField({ form, value, columns, problem, change }: FieldProps) {
  const given = Array.isArray(value) ? value : value ? [String(value)] : [];
  const lines = given.length > 0 ? given : [""];
  const words = wordsFor(form, columns);
  const faulty = problem ? lineOf(problem, lines) : -1;
  const put = (at: number, text: string) => change(lines.map((line, each) => (each === at ? text : line)));
  return (
    <div className="list" role="group" aria-label={form.title}>
      {lines.map((line, at) => (
        <div className="line" key={at}>
          <ExpressionField
            label={`${form.title} ${at + 1}`}
            value={line}
            example={form.example}
            words={words}
            problem={at === faulty ? problem : null}
            change={(text) => put(at, text)}
          />
          <button
            className="ghost small"
            aria-label={`Remove ${form.title} ${at + 1}`}
            title="Remove"
            disabled={lines.length === 1 && !line}
            onClick={() => change(lines.filter((_, each) => each !== at))}
          >
            ✕
          </button>
        </div>
      ))}
      <div className="chips">
        <button className="chip more" aria-label={`Add to ${form.title}`} onClick={() => change([...lines, ""])}>
          + Add
        </button>
        {suggestions(form, columns, lines).map((text) => (
          <button key={text} className="chip" onClick={() => change([...lines.filter(Boolean), text])}>
            {text}
          </button>
        ))}
      </div>
    </div>
  );
}

/** The line that an error with a place is about: the one whose text there the error names. */
function lineOf(problem: PlanProblem, lines: readonly string[]): number {
  if (lines.length === 1) return 0;
  if (!problem.column) return -1;
  const from = problem.column - 1;
  const named = (line: string) => line.slice(from, from + (problem.length ?? 1));
  return lines.findIndex((line) => named(line) !== "" && problem.message.includes(named(line)));
}
