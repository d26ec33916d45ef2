import type { SourceEntry } from "../../../api/types";
import { isNumber, isText, measures } from "./columns";
import type { Level } from "./contract";
import { emptyDraft, type Draft, type Part } from "./draft";

export interface Example {
  title: string;
  summary: string;
  draft: Draft;
}

/** Three small plans over a stream of the catalog; both levels have the operators for them. */
export function examples(stream: SourceEntry, level: Level): Example[] {
  const columns = stream.columns.filter((column) => column.name !== stream.time);
  const number = measures(columns)[0]?.name;
  const group = (columns.find(isText) ?? columns[0])?.name;
  const [size, slide] = isCounted(stream) ? ["100", "10"] : ["5 MINUTES", "1 MINUTE"];
  const measure = number ? `AVG(${number}) AS average` : "COUNT(*) AS n";
  const scan = [level === "logical" ? "scan" : "source", { source: stream.name }] as const;
  const window = ["time_window", { size }] as const;
  return [
    {
      title: "Count the latest rows",
      summary: `How many rows of ${stream.name} came lately, at every instant.`,
      draft: chain(level, `${stream.name}_count`, scan, window, ["aggregate", { aggregates: ["COUNT(*) AS n"] }]),
    },
    {
      title: `Compare groups${group ? ` by ${group}` : ""}`,
      summary: "A window that slides in steps, and one row per group.",
      draft: chain(
        level,
        `${stream.name}_groups`,
        scan,
        ["time_window", { size, slide }],
        ["aggregate", { keys: group ? [group] : [], aggregates: ["COUNT(*) AS n", measure].filter(once) }],
      ),
    },
    {
      title: number ? `The ten with the largest ${number}` : "The first ten",
      summary: "A ranking that is right at every instant of a window.",
      draft: chain(level, `${stream.name}_top`, scan, window, [
        "top",
        { order: number ? [`${number} DESC`] : [], limit: "10" },
      ]),
    },
  ];
}

const once = (text: string, at: number, all: string[]): boolean => all.indexOf(text) === at;

/** A stream whose time is a plain number, not an instant of the calendar. */
function isCounted(stream: SourceEntry): boolean {
  const time = stream.columns.find((column) => column.name === stream.time);
  return time !== undefined && isNumber(time);
}

/** Operators one below the other. */
function chain(level: Level, name: string, ...steps: (readonly [string, Part["settings"]])[]): Draft {
  const parts = steps.map(([kind, settings], at) => ({
    id: `${kind}1`,
    kind,
    settings,
    inputs: at === 0 ? [] : [`${steps[at - 1]![0]}1`],
    x: 0,
    y: 190 * at,
  }));
  return { ...emptyDraft(level), name, parts };
}
