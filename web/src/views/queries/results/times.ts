import type { Domain } from "../../../api/types";
import { instant } from "../../../parts/format";

/** An instant in few characters: the time of day (UTC) with milliseconds if it has any, or the number. */
export function clock(value: number | null, domain: Domain): string {
  if (value === null || domain !== "microseconds") return instant(value, domain);
  return new Date(Math.floor(value / 1000))
    .toISOString()
    .slice(11, 23)
    .replace(/\.000$/, "");
}

/** The day (UTC) of an instant, where there are days. */
export const day = (value: number, domain: Domain): string =>
  domain === "microseconds" ? new Date(value / 1000).toISOString().slice(0, 10) : "";

/** An instant that someone wrote: a number, a date and time, or a time of the day of `near`. */
export function parseInstant(text: string, domain: Domain, near: number): number | null {
  const plain = text.trim().replaceAll(",", "");
  if (domain !== "microseconds") return /^-?\d+$/.test(plain) ? Number(plain) : null;
  const timeOnly = /^\d{1,2}:/.test(plain);
  const full = timeOnly ? `${day(near, domain)}T${plain.replace(/^\d:/, "0$&")}` : plain.replace(" ", "T");
  const milliseconds = Date.parse(/Z$/i.test(full) ? full : `${full}Z`);
  return Number.isNaN(milliseconds) ? null : milliseconds * 1000;
}
