import { useState } from "react";
import { part, post } from "../../../api/client";
import type { Column, SourceEntry } from "../../../api/types";
import { attempt } from "../actions";
import { Push } from "../icons";
import { parseRows, sampleRow, sampleTime, valueOf, type Row } from "./pushing";

const MANY = 10;
type Fields = Record<string, string>;

const invented = (stream: SourceEntry, number: number): Row => sampleRow(stream, number, Date.now(), Math.random);

/** The fields of an invented row. Its time stays empty: it is that of the moment when it is pushed. */
function filled(stream: SourceEntry): Fields {
  const row = Object.entries(invented(stream, 0));
  return Object.fromEntries(row.map(([name, value]) => [name, name === stream.time ? "" : String(value ?? "")]));
}

/** Rows by hand, so that a newcomer sees something happen. */
export function PushRows({ stream }: { stream: SourceEntry }) {
  const [fields, setFields] = useState<Fields>(() => filled(stream));
  const [json, setJson] = useState<string | null>(null);
  const [said, setSaid] = useState<{ good: boolean; text: string } | null>(null);

  async function push(rows: Row[]) {
    const problem = await attempt(post(`streams/${part(stream.name)}/rows`, rows));
    setSaid(problem ? { good: false, text: [problem.message, problem.help].filter(Boolean).join(" — ") } : { good: true, text: pushed(rows) });
    if (!problem) setFields(filled(stream));
  }
  async function pushWritten() {
    try {
      const rows = json === null ? [rowOf(stream, fields)] : parseRows(json);
      await push(rows);
    } catch (error) {
      setSaid({ good: false, text: `this is no JSON: ${(error as Error).message}` });
    }
  }
  return (
    <form
      className="q-push" aria-label={`Push rows into ${stream.name}`}
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
              value={fields[column.name] ?? ""} placeholder={column.name === stream.time ? "now" : "NULL"}
              onChange={(event) => setFields({ ...fields, [column.name]: event.target.value })}
            />
          </label>
        ))
      ) : (
        <textarea aria-label="Rows as JSON" rows={5} value={json} onChange={(event) => setJson(event.target.value)} spellCheck={false} />
      )}
      <div className="q-pushbar">
        <button type="submit" className="q-small">
          <Push /> Push
        </button>
        <button type="button" className="q-small" onClick={() => push(Array.from({ length: MANY }, (_, n) => invented(stream, n)))}>
          Push {MANY} invented
        </button>
        <button
          type="button" className="ghost q-small" aria-pressed={json !== null}
          onClick={() => setJson(json === null ? JSON.stringify([rowOf(stream, fields)], null, 1) : null)}
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

function rowOf(stream: SourceEntry, fields: Fields): Row {
  const value = (column: Column) =>
    column.name === stream.time && !fields[column.name]
      ? sampleTime(column, stream, 0, Date.now())
      : valueOf(fields[column.name] ?? "", column);
  return Object.fromEntries(stream.columns.map((column) => [column.name, value(column)]));
}
