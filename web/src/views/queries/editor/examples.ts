import type { Catalog, Column, SourceEntry } from "../../../api/types";

export interface Example {
  title: string;
  about: string;
  sql: string;
}

const FIRST: Example = {
  title: "A stream of your own",
  about:
    "Declares a stream that takes rows from you, and starts a query over its last minute. Then push rows, at the left.",
  sql: `CREATE STREAM reading (sensor STRING, celsius DOUBLE, ts TIMESTAMP)
ORDERED BY ts;

CREATE QUERY warmest AS
SELECT sensor, MAX(celsius) AS celsius, COUNT(*) AS readings
FROM reading WINDOW(RANGE 1 MINUTE)
GROUP BY sensor;

START QUERY warmest
`,
};

const NUMBER = /^(TINYINT|SMALLINT|INT|BIGINT|FLOAT|DOUBLE|DECIMAL)/;
export const isNumber = (column: Column): boolean => NUMBER.test(column.type.toUpperCase());

/** Queries for newcomers, over streams that are really there. */
export function examplesFor(catalog: Catalog | null): Example[] {
  const busiest = [...(catalog?.streams ?? [])].sort((a, b) => (b.rate ?? 0) - (a.rate ?? 0));
  const found = busiest.flatMap(over).slice(0, 4);
  const taken = catalog?.streams.some((each) => each.name === "reading");
  return taken ? found : [...found, FIRST];
}

function over(stream: SourceEntry): Example[] {
  const columns = stream.columns.filter((each) => each.name !== stream.time);
  const key = columns.find((each) => !isNumber(each)) ?? columns[0];
  const numbers = columns.filter((each) => isNumber(each) && each !== key);
  // Integers are often names of things.
  const measure = numbers.find((each) => !/INT/.test(each.type)) ?? numbers.at(-1);
  if (!key || !measure) return [];
  // Integer time has no unit.
  const ticks = stream.columns.some((each) => each.name === stream.time && each.type !== "TIMESTAMP");
  const range = ticks ? "RANGE 60" : "RANGE 10 MINUTES";
  const [k, m, s] = [key.name, measure.name, stream.name];
  return [
    {
      title: `How many ${s}s are there?`,
      about: "The number of rows in a window that moves with time.",
      sql: `SELECT COUNT(*) AS n\nFROM ${s} WINDOW(${range})\n`,
    },
    {
      title: `The highest ${m} by ${k}`,
      about: "An aggregate for each group; every row says from when to when it holds.",
      sql: `SELECT ${k}, MAX(${m}) AS highest, COUNT(*) AS n\nFROM ${s} WINDOW(${range})\nGROUP BY ${k}\n`,
    },
    {
      title: `The five first by ${m}`,
      about: "A ranking that is right at every instant.",
      sql: `SELECT ${k}, MAX(${m}) AS highest\nFROM ${s} WINDOW(${range})\nGROUP BY ${k}\nORDER BY highest DESC LIMIT 5\n`,
    },
    {
      title: `The last ${s} of each ${k}`,
      about: "A window of rows with a partition: the last one stays until the next comes.",
      sql: `SELECT ${k}, ${m}\nFROM ${s} WINDOW(PARTITION BY ${k} ROWS 1)\n`,
    },
  ];
}
