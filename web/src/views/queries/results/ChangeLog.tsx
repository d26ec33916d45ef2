import { useMemo } from "react";
import { changesOf, type Known } from "./intervals";
import { RowTable, type Line } from "./RowTable";
import { clock } from "./times";

/** What came and what went up to an instant, the newest first. */
export function ChangeLog({ known, until }: { known: Known; until: number | null }) {
  const lines = useMemo(() => linesOf(known, until ?? Infinity), [known, until]);
  return (
    <>
      <RowTable label="Changes" columns={known.columns} lines={lines} before="±" after={["at"]}>
        {lines.length === 0 && (
          <div className="q-nothing">
            <p>No changes yet.</p>
          </div>
        )}
      </RowTable>
      <p className="q-count quiet numbers">{lines.length.toLocaleString("en")} changes, the newest first</p>
    </>
  );
}

function linesOf(known: Known, until: number): Line[] {
  const changes = changesOf(known, until);
  const copies = new Map<string, number>();
  return changes.map(({ at, sign, row }) => {
    const key = `${at}${sign}${JSON.stringify(row)}`;
    const copy = copies.get(key) ?? 0;
    copies.set(key, copy + 1);
    return {
      key: `${key}#${copy}`,
      row,
      className: sign === "+" ? "came" : "went",
      before: sign === "+" ? "+" : "−",
      after: [clock(at, known.domain)],
    };
  });
}
