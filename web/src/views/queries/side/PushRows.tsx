import { useRef, useState } from "react";
import { part, post } from "../../../api/client";
import type { Column, SourceEntry } from "../../../api/types";
import { attempt } from "../actions";
import { Push } from "../icons";
import { parseRows, sampleRows, sampleTimes, valueOf, type Row } from "./pushing";

const MANY = 10;
type Fields = Record<string, string>;

/** The fields of an invented row. Its time stays empty: it is that of the moment when it is pushed. */
function filled(stream: SourceEntry): Fields {
  const [row] = sampleRows(stream, 1, Date.now(), 0, Math.random);
  return Object.fromEntries(
    Object.entries(row!).map(([name, value]) => [name, name === stream.time ? "" : String(value ?? "")]),
  );
}

/** Rows by hand, so that a newcomer sees something happen. */
export function PushRows({ stream }: { stream: SourceEntry }) {
  const [fields, setFields] = useState<Fields>(() => filled(stream));
  const [json, setJson] = useState<string | null>(null);
  const [said, setSaid] = useState<{ good: boolean; text: string } | null>(null);

  // Rows of the same moment must not come before those that the server has not told of yet.
  const last = useRef(0);

  async function push(rows: Row[]) {
    last.current = Math.max(last.current, ...rows.map((row) => Date.parse(String(row[stream.time ?? ""])) || 0));
    const problem = await attempt(post(`streams/${part(stream.name)}/rows`, rows));
    setSaid(
      problem
        ? { good: false, text: [problem.message, problem.help].filter(Boolean).join(" — ") }
        : { good: true, text: pushed(rows) },
    );
    if (!problem) setFields(filled(stream));
  }
  async function pushWritten() {
    try {
      const rows = json === null ? [rowOf(stream, fields, last.current)] : parseRows(json);
      await push(rows);
    } catch (error) {
      setSaid({ good: false, text: `this is no JSON: ${(error as Error).message}` });
    }
  }
  return (
    <form
      className="q-push"
      aria-label={`Push rows into ${stream.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        void pushWritten();
      }}
    >
      {json === null ? (
        stream.columns.map((column) => (
          <label key={column.name}>
            <span>{column.name}</span>
            <input
              value={fields[column.name] ?? ""}
              placeholder={column.name === stream.time ? "now" : "NULL"}
              onChange={(event) => setFields({ ...fields, [column.name]: event.target.value })}
            />
          </label>
        ))
      ) : (
        <textarea
          aria-label="Rows as JSON"
          rows={5}
          value={json}
          onChange={(event) => setJson(event.target.value)}
          spellCheck={false}
        />
      )}
      <div className="q-pushbar">
        <button type="submit" className="q-small">
          <Push /> Push
        </button>
        <button
          type="button"
          className="q-small"
          onClick={() => push(sampleRows(stream, MANY, Date.now(), last.current, Math.random))}
        >
          Push {MANY} invented
        </button>
        <button
          type="button"
          className="ghost q-small"
          aria-pressed={json !== null}
          onClick={() => setJson(json === null ? JSON.stringify([rowOf(stream, fields, last.current)], null, 1) : null)}
        >
          JSON
        </button>
      </div>
      {said && (
        <p className={said.good ? "q-said" : "q-said bad"} role="status">
          {said.text}
        </p>
      )}
    </form>
  );
}

const pushed = (rows: Row[]): string => (rows.length === 1 ? "1 row pushed" : `${rows.length} rows pushed`);

function rowOf(stream: SourceEntry, fields: Fields, after: number): Row {
  const [now = null] = sampleTimes(stream, 1, Date.now(), after);
  const value = (column: Column) =>
    column.name === stream.time && !fields[column.name] ? now : valueOf(fields[column.name] ?? "", column);
  return Object.fromEntries(stream.columns.map((column) => [column.name, value(column)]));
}
