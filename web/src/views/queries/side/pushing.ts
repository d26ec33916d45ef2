import type { Column, SourceEntry, Value } from "../../../api/types";

export type Row = Record<string, Value>;

const WORDS = ["ann", "bob", "cy", "dee", "eve"];

/** A row that a stream could take, later than what it has seen. */
export function sampleRow(stream: SourceEntry, number: number, now: number, dice: () => number): Row {
  const time = stream.columns.find((each) => each.name === stream.time);
  const entries = stream.columns.map((column) => [
    column.name,
    column === time ? sampleTime(column, stream, number, now) : sampleValue(column, dice),
  ]);
  return Object.fromEntries(entries);
}

const A_DAY_MS = 86_400_000;

/**
 * The instant of a row that comes now. A stream whose time runs elsewhere, as that of a recording,
 * gets one that follows what it has: a jump to the present would make all its later rows late.
 */
export function sampleTime(column: Column, stream: SourceEntry, number: number, now: number): Value {
  const reached = stream.watermark ?? null;
  if (column.type !== "TIMESTAMP") return (reached ?? 0) + 1 + number;
  const elsewhere = reached !== null && Math.abs(now - reached / 1000) > A_DAY_MS;
  return new Date((elsewhere ? Math.ceil(reached / 1000) + 1 : now) + number).toISOString();
}

function sampleValue(column: Column, dice: () => number): Value {
  const type = column.type.toUpperCase();
  const below = (limit: number) => Math.floor(dice() * limit);
  if (/INT/.test(type)) return 1 + below(100);
  if (/FLOAT|DOUBLE|DECIMAL/.test(type)) return below(10_000) / 100;
  if (type === "BOOLEAN") return dice() < 0.5;
  if (type === "STRING") return WORDS[below(WORDS.length)]!;
  if (type === "DATE" || type === "TIMESTAMP") return new Date(0).toISOString().slice(0, type === "DATE" ? 10 : 23);
  return null;
}

/** A text of a field as a value of its column; an empty one is NULL. */
export function valueOf(text: string, column: Column): Value {
  const type = column.type.toUpperCase();
  if (text === "" && type !== "STRING") return null;
  if (/^(TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE)$/.test(type)) {
    const number = Number(text);
    // Beyond 2^53 only the text is exact.
    return Number.isSafeInteger(number) || !/^-?\d+$/.test(text) ? number : text;
  }
  if (type === "BOOLEAN") return /^(true|yes|1)$/i.test(text);
  if (/^(ARRAY|MAP|STRUCT)/.test(type)) return JSON.parse(text) as Value;
  return text;
}

/** Rows from JSON: one object, or a list of them. */
export function parseRows(text: string): Row[] {
  const found: unknown = JSON.parse(text);
  const rows = Array.isArray(found) ? found : [found];
  if (rows.some((row) => typeof row !== "object" || row === null || Array.isArray(row)))
    throw new SyntaxError("each row is an object like {\"item\": 1}");
  return rows as Row[];
}
