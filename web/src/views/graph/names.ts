import type { Domain, GraphNode } from "../../api/types";
import { duration } from "../../parts/format";

type Named = Pick<GraphNode, "operator" | "details" | "window">;

/** What a family of operators has in common: its colour, its sign, and what it does in words. */
export type Kind = "source" | "window" | "row" | "join" | "group" | "set" | "order" | "hand_over";

const KINDS: Record<string, [Kind, string]> = {
  Source: ["source", "brings the rows of a stream or a relation"],
  TimeWindow: ["window", "sets how long a row holds"],
  CountWindow: ["window", "lets a row hold until so many others have come"],
  Granularity: ["window", "rounds instants, so that there are fewer of them"],
  Istream: ["window", "rows that start to hold"],
  Dstream: ["window", "rows that stop holding"],
  Filter: ["row", "lets pass the rows for which a condition holds"],
  Project: ["row", "computes columns"],
  Join: ["join", "joins rows that hold at the same time"],
  StarJoin: ["join", "joins many streams on one key"],
  Lookup: ["join", "looks up rows in a relation"],
  Aggregate: ["group", "counts, sums up, or compares the rows of each group"],
  Distinct: ["group", "removes duplicates"],
  Coalesce: ["group", "makes one row of equal rows that follow each other"],
  Union: ["set", "all rows of both"],
  Merge: ["set", "merges equal rows"],
  Split: ["set", "cuts a stream into parts"],
  Difference: ["set", "rows of the one that are not in the other"],
  StrictDifference: ["set", "rows of the one that are not in the other"],
  Intersection: ["set", "rows that both have"],
  MaxUnion: ["set", "rows that either has, as often as the one that has more"],
  TopK: ["order", "the first rows in an order"],
  Rank: ["order", "ranks rows"],
  RowNumber: ["order", "numbers rows"],
  Fuse: ["hand_over", "hands over from the old plan to the new one at the split time"],
  ReferencePoint: ["hand_over", "hands over from the old plan to the new one at the split time"],
};

const bare = (operator: string): string => operator.replace(/Exec$/, "");

export const kindOf = (operator: string): Kind => KINDS[bare(operator)]?.[0] ?? "row";
export const meaningOf = (operator: string): string => KINDS[bare(operator)]?.[1] ?? "";

/** The name of a part for people: `TimeWindowExec` is "Time window", a source has its own. */
export function titleOf({ operator, details }: Named): string {
  if (kindOf(operator) === "source") return details.replace(/ columns=\[.*$/, "");
  if (kindOf(operator) === "hand_over") return "Hand-over";
  const words = bare(operator).replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return words === "top k" ? "Top k" : words.charAt(0).toUpperCase() + words.slice(1);
}

/** The size of a window or a granule. */
export const sizeOf = (operator: string, size: number, domain: Domain): string =>
  operator === "CountWindowExec" ? `${size.toLocaleString("en")} rows` : duration(size, domain);

function slideOf(details: string, domain: Domain): string {
  const slide = /slide=(\d+)/.exec(details)?.[1];
  return slide && slide !== "1" ? `, every ${duration(Number(slide), domain)}` : "";
}

/** Details in one short line: the noise of names that the programs gave is left out. */
export function shortDetails({ operator, details, window }: Named, domain: Domain): string {
  if (kindOf(operator) === "source") return /columns=\[(.*)\]/.exec(details)?.[1] ?? "";
  if (window) return `last ${sizeOf(operator, window, domain)}${slideOf(details, domain)}`;
  return details
    .replace(/ (knob|orders)=.*$/, "")
    .replace(/^keys=\[(.*)\]$/, "on $1")
    .replace(/(\w+)=\[([^[\]]*)\]/g, "$1 $2")
    .replace(/(^|\s)\[(.*)\]$/, (_, space: string, body: string) => (space ? `: ${body}` : body))
    .replace(/\b(\w+) := ((?:\w+\.)?\1)(?=,|$)/g, "$1")
    .replace(/ := /g, " = ");
}
