import { SQLDialect } from "@codemirror/lang-sql";

// The words of docs/language.md, those of windows and of what is ours first.
const KEYWORDS = `
window range rows slide granularity now unbounded partition coarsest finest
istream dstream rstream objects approximate offset nulls first last shed
stream relation query source ordered slack idle valid changing clipped within per most at timestamp
create drop alter start stop partial optimize insert delete into values if exists
select distinct as from where group by having order limit asc desc
join inner left right full outer cross natural on using union except intersect all any some with
and or not in is null like between case when then else end cast try_cast filter true false interval
microsecond microseconds millisecond milliseconds second seconds minute minutes hour hours day days week weeks`;

const TYPES = `
boolean tinyint smallint int bigint float double decimal string binary date timestamp array map struct`;

const FUNCTIONS = `
count sum avg min max var_samp var_pop variance stddev stddev_samp stddev_pop
coalesce nullif abs round floor ceil upper lower length concat substring greatest least`;

const words = (text: string): string[] => text.trim().split(/\s+/);

export const functions = words(FUNCTIONS);
export const keywords = words(KEYWORDS);
export const types = words(TYPES);

/** Spark's SQL with windows behind streams. */
export const dialect = SQLDialect.define({
  keywords: keywords.join(" "),
  types: types.join(" "),
  builtin: functions.join(" "),
  identifierQuotes: "`",
  operatorChars: "*+-%<>!=&|~^/",
  hashComments: false,
  slashComments: false,
  spaceAfterDashes: false,
});
