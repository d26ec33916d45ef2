import type { Column, SourceEntry, Value } from "../../../api/types";

export type Row = Record<string, Value>;

const WORDS = ["ann", "bob", "cy", "dee", "eve"];

/** Rows that a stream could take, later than what it has seen and than `after` (in milliseconds). */
export function sampleRows(stream: SourceEntry, count: number, now: number, after: number, dice: () => number): Row[] {
  const times = sampleTimes(stream, count, now, after);
  return times.map((time) => {
    const value = (column: Column) => (column.name === stream.time ? time : sampleValue(column, dice));
    return Object.fromEntries(stream.columns.map((column) => [column.name, value(column)]));
  });
}

const A_DAY_MS = 86_400_000;
const SPREAD_MS = 10_000;

/**
 * Instants of rows that come now, spread over the last seconds. A stream whose time runs elsewhere,
 * as that of a recording, gets some that follow what it has: a jump to the present would make all
 * its later rows late.
 */
export function sampleTimes(stream: SourceEntry, count: number, now: number, after: number): Value[] {
  const reached = stream.rows ? (stream.watermark ?? null) : null;
  const numbers = Array.from({ length: count }, (_, n) => n + 1);
  if (!isTimestamp(stream)) return numbers.map((n) => (reached ?? 0) + n);
  const seen = reached === null ? 0 : Math.ceil(reached / 1000);
  const written = (milliseconds: number) => new Date(Math.ceil(milliseconds)).toISOString();
  if (reached !== null && Math.abs(now - seen) > A_DAY_MS)
    return numbers.map((n) => written(Math.max(seen, after) + 100 * n));
  const start = Math.max(seen, after, now - SPREAD_MS);
  const end = Math.max(now, start + count);
  return numbers.map((n) => written(start + ((end - start) * n) / count));
}

const isTimestamp = (stream: SourceEntry): boolean =>
  stream.columns.some(({ name, type }) => name === stream.time && type === "TIMESTAMP");

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
    throw new SyntaxError('each row is an object like {"item": 1}');
  return rows as Row[];
}
