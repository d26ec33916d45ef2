import { useEffect, useRef, useState, type ReactNode } from "react";
import type { Column, Value } from "../../../api/types";
import { isNumber } from "../editor/examples";
import { shown, widthOf } from "./rows";

const HEIGHT = 30;
const AROUND = 8;

export interface Line {
  key: string;
  row: Value[];
  /** What stands before and behind the row's own values. */
  before?: ReactNode;
  after?: string[];
  className?: string;
}

interface Props {
  label: string;
  columns: Column[];
  lines: Line[];
  before?: string;
  after?: string[];
  sorted?: { column: number; down: boolean } | null;
  sort?: (column: number) => void;
  children?: ReactNode;
}

/** A table that draws only the rows in sight, with columns that keep their widths. */
export function RowTable({ label, columns, lines, before, after = [], sorted, sort, children }: Props) {
  const [top, setTop] = useState(0);
  const { box, height } = useHeight();
  const widths = useWidths(columns, lines);
  const first = Math.min(Math.max(0, Math.floor(top / HEIGHT) - AROUND), Math.max(0, lines.length - 1));
  const count = Math.ceil(height / HEIGHT) + 2 * AROUND;
  const visible = lines.slice(first, first + count);
  return (
    <div
      className="q-table"
      role="region"
      aria-label={label}
      tabIndex={0}
      ref={box}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <table aria-rowcount={lines.length + 1}>
        <colgroup>
          {before !== undefined && <col style={{ width: "4.5ch" }} />}
          {columns.map((column, n) => (
            <col key={column.name} style={{ width: `${widths[n]}ch` }} />
          ))}
          {after.map((name) => (
            <col key={name} style={{ width: "16ch" }} />
          ))}
          <col />
        </colgroup>
        <thead>
          <tr>
            {before !== undefined && <th scope="col">{before}</th>}
            {columns.map((column, n) => (
              <Head
                key={column.name}
                column={column}
                direction={sorted?.column === n ? sorted.down : null}
                sort={sort && (() => sort(n))}
              />
            ))}
            {after.map((name) => (
              <th key={name} scope="col" className="time">
                {name}
              </th>
            ))}
            <th aria-hidden />
          </tr>
        </thead>
        <tbody>
          <Space rows={first} />
          {visible.map((line, n) => (
            <tr key={line.key} className={line.className} aria-rowindex={first + n + 2}>
              {before !== undefined && <td>{line.before}</td>}
              {columns.map((column, c) => (
                <Cell key={column.name} column={column} value={line.row[c] ?? null} />
              ))}
              {line.after?.map((text, c) => (
                <td key={after[c]} className="time numbers">
                  {text}
                </td>
              ))}
              <td aria-hidden />
            </tr>
          ))}
          <Space rows={Math.max(0, lines.length - first - visible.length)} />
        </tbody>
      </table>
      {children}
    </div>
  );
}

function useHeight() {
  const box = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(400);
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => entry && setHeight(entry.contentRect.height));
    watcher.observe(box.current!);
    return () => watcher.disconnect();
  }, []);
  return { box, height };
}

function useWidths(columns: Column[], lines: Line[]): number[] {
  const names = columns.map((each) => each.name).join(" ");
  const kept = useRef<{ names: string; widths: number[]; settled: boolean }>({ names: "", widths: [], settled: false });
  if (kept.current.names !== names || !kept.current.settled) {
    const seen = lines.slice(0, 200);
    const widths = columns.map((column, n) =>
      widthOf(
        column,
        seen.map((line) => shown(line.row[n] ?? null)),
      ),
    );
    kept.current = { names, widths, settled: seen.length > 0 };
  }
  return kept.current.widths;
}

function Head({
  column,
  direction,
  sort,
}: {
  column: Column;
  direction: boolean | null;
  sort?: (() => void) | undefined;
}) {
  const name = (
    <>
      {column.name}
      <span aria-hidden>{direction === null ? "" : direction ? " ↓" : " ↑"}</span>
    </>
  );
  return (
    <th
      scope="col"
      className={isNumber(column) ? "number" : ""}
      title={column.type}
      aria-sort={direction === null ? undefined : direction ? "descending" : "ascending"}
    >
      {sort ? <button onClick={sort}>{name}</button> : name}
    </th>
  );
}

function Cell({ column, value }: { column: Column; value: Value }) {
  const text = shown(value);
  const kind = value === null ? "null" : isNumber(column) ? "number numbers" : "";
  return (
    <td className={kind} title={text.length > 30 ? text : undefined}>
      {text}
    </td>
  );
}

const Space = ({ rows }: { rows: number }) => (rows > 0 ? <tr aria-hidden style={{ height: rows * HEIGHT }} /> : null);
