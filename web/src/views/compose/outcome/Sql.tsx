import { StandardSQL } from "@codemirror/lang-sql";
import { classHighlighter, highlightCode } from "@lezer/highlight";
import { useMemo, useState, type ReactNode } from "react";
import type { CheckedPlan } from "../model/contract";

/** The plan as SQL, to read and to copy. */
export function Sql({ checked }: { checked: CheckedPlan | null }) {
  const text = checked?.sql;
  const shown = useMemo(() => (text ? coloured(text) : null), [text]);
  if (!text) return <p className="quiet">{checked?.sql_reason ?? "The SQL is shown when the plan fits together."}</p>;
  return (
    <div className="sql">
      <CopyButton text={text} />
      <pre data-testid="sql">{shown}</pre>
    </div>
  );
}

/** Only where the browser lets a page copy: on this machine, or over TLS. */
function CopyButton({ text }: { text: string }) {
  const [copied, setCopied] = useState("");
  if (!navigator.clipboard) return null;
  return (
    <button
      className="ghost small"
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(text))}
    >
      {copied === text ? "Copied" : "Copy"}
    </button>
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
