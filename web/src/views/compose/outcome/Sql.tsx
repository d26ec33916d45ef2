import { StandardSQL } from "@codemirror/lang-sql";
import { classHighlighter, highlightCode } from "@lezer/highlight";
import { useMemo, type ReactNode } from "react";
import type { CheckedPlan } from "../model/contract";

/** The plan as SQL, to read and to copy. */
export function Sql({ checked }: { checked: CheckedPlan | null }) {
  const text = checked?.sql;
  const shown = useMemo(() => (text ? coloured(text) : null), [text]);
  if (!text) return <p className="quiet">{checked?.sql_reason ?? "The SQL is shown when the plan fits together."}</p>;
  return (
    <div className="sql">
      <button className="ghost small" onClick={() => void navigator.clipboard?.writeText(text)}>
        Copy
      </button>
      <pre data-testid="sql">{shown}</pre>
    </div>
  );
}

function coloured(text: string): ReactNode[] {
  const parts: ReactNode[] = [];
  highlightCode(
    text,
    StandardSQL.language.parser.parse(text),
    classHighlighter,
    (piece, classes) => parts.push(classes ? <span key={parts.length} className={classes}>{piece}</span> : piece),
    () => parts.push("\n"),
  );
  return parts;
}
