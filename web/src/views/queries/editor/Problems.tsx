import type { EditorView } from "@codemirror/view";
import type { RefObject } from "react";
import type { Checked, Problem } from "../../../api/types";
import { mend } from "./checking";
import { suggestion } from "./places";
import { goTo } from "./SqlEditor";

type Handle = RefObject<EditorView | null>;

/** What the check of a text found; a click goes to the place, another mends it where a remedy is known. */
export function Problems({ checked, handle }: { checked: Checked | null; handle: Handle }) {
  const errors = checked?.errors ?? [];
  const warnings = checked?.warnings ?? [];
  if (errors.length + warnings.length === 0) return null;
  return (
    <ul className="q-problems" aria-label="Problems">
      {errors.map((each, n) => (
        <Line key={`e${n}`} kind="error" problem={each} handle={handle} />
      ))}
      {warnings.map((each, n) => (
        <Line key={`w${n}`} kind="warning" problem={each} handle={handle} />
      ))}
    </ul>
  );
}

function Line({ kind, problem, handle }: { kind: "error" | "warning"; problem: Problem; handle: Handle }) {
  const better = suggestion(problem);
  return (
    <li className={kind}>
      <button type="button" onClick={() => handle.current && goTo(handle.current, problem)}>
        <span className="q-sign" aria-hidden>
          {kind === "error" ? "✕" : "!"}
        </span>
        <span>
          <strong>
            <Said text={problem.message} />
          </strong>
          {problem.help && (
            <span className="q-help">
              <Said text={problem.help} />
            </span>
          )}
        </span>
        {problem.line && (
          <span className="q-place numbers">
            {problem.line}:{problem.column}
          </span>
        )}
      </button>
      {better !== null && (
        <button
          type="button"
          className="q-mend"
          onClick={() => handle.current && mend(handle.current, problem, better)}
        >
          Use {better}
        </button>
      )}
    </li>
  );
}

/** In one word whether a text can run. */
export function Verdict({ checked, empty }: { checked: Checked | null; empty: boolean }) {
  const [kind, words] = verdict(checked, empty);
  return (
    <span className={`q-verdict ${kind}`} role="status" aria-label="Check">
      {words}
    </span>
  );
}

function verdict(checked: Checked | null, empty: boolean): [string, string] {
  if (empty) return ["", ""];
  if (!checked) return ["", "checking…"];
  if (checked.errors.length)
    return ["bad", checked.errors.length === 1 ? "1 error" : `${checked.errors.length} errors`];
  if (checked.warnings.length)
    return ["warn", checked.warnings.length === 1 ? "1 warning" : `${checked.warnings.length} warnings`];
  return ["good", "no errors"];
}

/** A message with its `names` set as code. */
function Said({ text }: { text: string }) {
  return text.split("`").map((piece, n) => (n % 2 ? <code key={n}>{piece}</code> : piece));
}
