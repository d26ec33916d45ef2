import type { Domain } from "../api/types";

/** A number in few characters: 1234567 is "1.23M". */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const size = Math.abs(value);
  for (const [unit, sign] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]] as const)
    if (size >= unit) return `${digits(value / unit)}${sign}`;
  return digits(value);
}

function digits(value: number): string {
  if (value === 0) return "0";
  return Math.abs(value) >= 100 ? value.toFixed(0) : Number(value.toPrecision(3)).toString();
}

export const bytes = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : `${short(value)}B`;

export const percent = (value: number | null | undefined): string =>
  value === null || value === undefined ? "–" : `${digits(100 * value)}%`;

/** An instant as people tell it: a number, or date and time (UTC). */
export function instant(value: number | null, domain: Domain): string {
  if (value === null) return "∞";
  if (domain !== "microseconds") return value.toLocaleString("en");
  return new Date(value / 1000).toISOString().replace("T", " ").replace(/(\.000)?Z$/, "");
}

/** A length of time on an axis. */
export function duration(value: number, domain: Domain): string {
  if (domain !== "microseconds") return value.toLocaleString("en");
  const seconds = value / 1e6;
  for (const [unit, sign] of [[86400, "d"], [3600, "h"], [60, "min"]] as const)
    if (seconds >= unit) return `${digits(seconds / unit)} ${sign}`;
  return seconds >= 1 || seconds === 0 ? `${digits(seconds)} s` : `${digits(seconds * 1000)} ms`;
}
