import type { Cost, Domain, PlanNode } from "../../../api/types";
import { bytes, duration, percent, short } from "../../../parts/format";
import { inOrder } from "./compare";

export type Total = Pick<Cost, "cpu" | "state_rows" | "state_bytes">;

/** What a plan costs; parts that are equal are computed once, and paid once. */
export function totalOf(plan: PlanNode): Total | null {
  const parts = new Map(
    inOrder(plan).map((node) => [JSON.stringify([node.operator, node.details, node.inputs]), node]),
  );
  const costs = [...parts.values()].flatMap(({ cost }) => (cost ? [cost] : []));
  if (costs.length === 0) return null;
  const sum = (name: keyof Total) => costs.reduce((all, cost) => all + cost[name], 0);
  return { cpu: sum("cpu"), state_rows: sum("state_rows"), state_bytes: sum("state_bytes") };
}

export interface Measure {
  name: keyof Cost;
  title: string;
  about: string;
  shown: (cost: Partial<Cost>, domain: Domain) => string;
}

// Costs are told for one step of time, which is a microsecond where there are timestamps.
const perSecond = (value: number, domain: Domain): number => (domain === "microseconds" ? value * 1e6 : value);
const GROWS = 1e9;

/** Small numbers are told as such: their digits say nothing. */
function brief(value: number | undefined, write: (value: number) => string, least: number): string {
  if (!value) return "–";
  return value < least ? `<${write(least)}` : write(Number(value.toPrecision(2)));
}

export const MEASURES: Measure[] = [
  {
    name: "rate",
    title: "rows/s",
    about: "Rows that come out, per second (per tick for integer time)",
    shown: ({ rate = 0 }, domain) => brief(perSecond(rate, domain), short, 0.01),
  },
  {
    name: "live_rows",
    title: "live",
    about: "Rows that hold at an instant",
    shown: ({ live_rows }) => brief(live_rows, short, 0.1),
  },
  {
    name: "cpu",
    title: "CPU",
    about: "Share of a processor core",
    shown: ({ cpu = 0 }, domain) => brief(perSecond(cpu, domain), percent, 0.0001),
  },
  {
    name: "state_bytes",
    title: "state",
    about: "Memory for what must be remembered",
    shown: ({ state_rows = 0, state_bytes }) => (state_rows > GROWS ? "grows" : brief(state_bytes, bytes, 1)),
  },
];

/** The most of each measure in some plans, to draw shares of it. */
export function mostOf(plans: PlanNode[]): Record<string, number> {
  const costs = plans.flatMap(inOrder).flatMap(({ cost }) => (cost ? [cost] : []));
  return Object.fromEntries(MEASURES.map(({ name }) => [name, Math.max(0, ...costs.map((cost) => cost[name]))]));
}

/** Details with lengths of time as people tell them. */
export function readable(details: string, domain: Domain): string {
  if (domain !== "microseconds") return details;
  return details.replaceAll(
    /\b(range|slide|granularity|size)=(\d+)/g,
    (_, word: string, length: string) => `${word}=${duration(Number(length), domain)}`,
  );
}
