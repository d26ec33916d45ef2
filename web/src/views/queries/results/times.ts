import type { Domain } from "../../../api/types";
import { instant } from "../../../parts/format";

/** An instant in few characters: the time of day (UTC) with milliseconds if it has any, or the number. */
export function clock(value: number | null, domain: Domain): string {
  if (value === null || domain !== "microseconds") return instant(value, domain);
  return new Date(Math.floor(value / 1000)).toISOString().slice(11, 23).replace(/\.000$/, "");
}

/** An instant that someone wrote: a number, a date and time, or a time of the day of `near`. */
export function parseInstant(text: string, domain: Domain, near: number): number | null {
  const plain = text.trim().replaceAll(",", "");
  if (domain !== "microseconds") return /^-?\d+$/.test(plain) ? Number(plain) : null;
  const day = new Date(near / 1000).toISOString().slice(0, 10);
  const full = /^\d{1,2}:/.test(plain) ? `${day}T${plain.padStart(plain.indexOf(":") === 1 ? plain.length + 1 : 0, "0")}` : plain.replace(" ", "T");
  const milliseconds = Date.parse(/Z$/i.test(full) ? full : `${full}Z`);
  return Number.isNaN(milliseconds) ? null : milliseconds * 1000;
}
