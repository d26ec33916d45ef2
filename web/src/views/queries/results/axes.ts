import type uPlot from "uplot";
import type { Domain } from "../../../api/types";
import { short } from "../../../parts/format";
import type { Picture } from "./picture";

const SECOND = 1e6;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const of = (unit: number, ...counts: number[]): number[] => counts.map((n) => n * unit);
const TIMES = [
  ...of(1, 1, 10, 100),
  ...of(1000, 1, 10, 100, 250, 500),
  ...of(SECOND, 1, 2, 5, 10, 15, 30),
  ...of(MINUTE, 1, 2, 5, 10, 15, 30),
  ...of(HOUR, 1, 2, 3, 6, 12),
  ...of(DAY, 1, 2, 7, 14, 30, 90, 365),
];
const TICKS = Array.from({ length: 15 }, (_, n) => of(10 ** n, 1, 2, 5)).flat();

interface Look {
  quiet: () => string;
  line: () => string;
}

/** The axis of time: round steps of the clock (UTC), or of ticks. */
export function timeAxis(domain: Domain, { quiet, line }: Look): uPlot.Axis {
  return {
    stroke: quiet,
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1, size: 5 },
    font: FONT,
    space: 78,
    size: 28,
    gap: 3,
    incrs: domain === "microseconds" ? TIMES : TICKS,
    values: (_u, splits, _axis, _space, step) =>
      splits.map((at) => (domain === "microseconds" ? label(at, step) : at.toLocaleString("en"))),
  };
}

function label(at: number, step: number): string {
  const text = new Date(Math.floor(at / 1000)).toISOString();
  if (step >= DAY) return text.slice(5, 10);
  if (step >= MINUTE) return text.slice(11, 16);
  return step >= SECOND ? text.slice(11, 19) : text.slice(14, 23);
}

/** The axis of values, or the names of lanes. */
export function valueAxis(picture: () => Picture, wide: boolean, { quiet, line }: Look): uPlot.Axis {
  const common = { stroke: quiet, ticks: { show: false }, font: FONT, gap: 6 };
  if (picture().kind === "steps")
    return {
      ...common,
      grid: { stroke: line, width: 1 },
      size: 50,
      space: 36,
      values: (_u, splits) => splits.map((y) => short(y)),
    };
  return {
    ...common,
    grid: { show: false },
    size: wide ? 150 : 90,
    splits: () => picture().series.map(({ bars }) => bars[0]!.y),
    values: () => picture().series.map(({ key }) => cut(key, wide ? 22 : 12)),
  };
}

const FONT = '12px system-ui, "DejaVu Sans", sans-serif';
const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** The range of values with some air; from 0 if that is near. */
export function valueRange({ kind, low, high }: Picture): [number, number] {
  if (kind === "lanes") return [low - 0.6, high + 0.6];
  if (low > high) return [0, 1];
  if (low === high) return low === 0 ? [-1, 1] : [Math.min(low - 1, 0), Math.max(high * 1.2, high + 1)];
  const from = low >= 0 && low < high / 2 ? 0 : low;
  const air = 0.08 * (high - from);
  return [from === 0 ? 0 : from - air, high + air];
}
