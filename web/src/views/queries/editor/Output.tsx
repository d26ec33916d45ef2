import type { Ran } from "../../../api/types";
import { linkTo } from "../../../shell/routes";

/** What the statements of a script did. */
export function Output({ ran }: { ran: Ran[] }) {
  if (ran.length === 0) return null;
  return (
    <ol className="q-ran" aria-label="Done">
      {ran.map((each, n) => (
        <li key={n}>
          <span className="q-sign good" aria-hidden>
            ✓
          </span>
          {each.message || each.kind.replaceAll("_", " ")}
          {n === lastAbout(ran, each.name) && each.kind.endsWith("_query") && each.kind !== "drop_query" && (
            <a href={linkTo("queries", each.name!)}>Open {each.name}</a>
          )}
          {each.table && <pre aria-label="Answer">{textOf(each.table)}</pre>}
        </li>
      ))}
    </ol>
  );
}

/** A table of texts; the lines of a plan stand as they are. */
export function textOf({ columns, rows }: NonNullable<Ran["table"]>): string {
  if (columns.length === 1) return rows.map(([line]) => line).join("\n");
  const lines = [columns, ...rows];
  const widths = columns.map((_, n) => Math.max(...lines.map((line) => line[n]!.length)));
  return lines.map((line) => line.map((text, n) => text.padEnd(widths[n]!)).join("  ").trimEnd()).join("\n");
}

const lastAbout = (ran: Ran[], name: string | null): number =>
  name ? ran.map((each) => each.name).lastIndexOf(name) : -1;
