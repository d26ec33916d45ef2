import { useEffect, useState } from "react";
import { get, part } from "../../../api/client";
import type { QueryEntry, QueryProgress } from "../../../api/types";
import { bytes, duration, instant, short } from "../../../parts/format";

const EVERY_MS = 2000;

/** What else is known of a query: how far it is, what it reads, and what its operators do. */
export function DetailsTab({ query }: { query: QueryEntry }) {
  const progress = useProgress(query);
  return (
    <div className="q-details">
      <dl className="q-facts">
        {factsOf(query, progress).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="numbers">{value}</dd>
          </div>
        ))}
      </dl>
      {progress && <Sources query={query} progress={progress} />}
      <Sizes query={query} />
      {progress && <Operators progress={progress} />}
    </div>
  );
}

function useProgress({ name, state }: QueryEntry): QueryProgress | null {
  const [progress, setProgress] = useState<QueryProgress | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const ask = () =>
      get<QueryProgress>(`queries/${part(name)}/progress`, stop.signal).then(setProgress, () => undefined);
    void ask();
    const timer = setInterval(ask, EVERY_MS);
    return () => {
      clearInterval(timer);
      stop.abort();
    };
  }, [name, state]);
  return progress;
}

function factsOf(query: QueryEntry, progress: QueryProgress | null): [string, string][] {
  return [
    ["State", query.state],
    ["Rows given", query.rows_out.toLocaleString("en")],
    ["Rows read", progress ? progress.rows_in.toLocaleString("en") : "–"],
    ["Late rows", progress ? progress.late_rows.toLocaleString("en") : "–"],
    ["Answers are complete from", completeFrom(query)],
    ["Results go to", query.sink],
    ["Ticks", progress ? progress.ticks.toLocaleString("en") : "–"],
    ["Time is measured in", query.domain ?? "–"],
  ];
}

/** An instant beyond what numbers can tell exactly is the end of time. */
function completeFrom({ complete_from: from, domain }: QueryEntry): string {
  if (from === null) return "–";
  if (!Number.isSafeInteger(from)) return "never: it began without the past";
  return from === 0 ? "the beginning" : instant(from, domain);
}

function Sources({ query, progress }: { query: QueryEntry; progress: QueryProgress }) {
  const rows = Object.entries(progress.sources).map(([name, { rows, late_rows, watermark }]) => [
    name,
    rows.toLocaleString("en"),
    late_rows.toLocaleString("en"),
    watermark === null ? "–" : instant(watermark, query.domain),
  ]);
  return <Facts title="Sources" names={["source", "rows", "late", "watermark"]} rows={rows} />;
}

function Operators({ progress }: { progress: QueryProgress }) {
  const rows = progress.operators.map((each) => [
    each.operator,
    short(each.rows_in),
    short(each.rows_out),
    short(each.state_rows),
    bytes(each.state_bytes),
  ]);
  return (
    <Facts
      title="Operators"
      names={["operator", "rows in", "rows out", "rows kept", "state"]}
      rows={rows}
    />
  );
}

/** Of windows and granules that may vary. */
function Sizes({ query }: { query: QueryEntry }) {
  const rows = Object.entries(query.sizes).flatMap(([knob, history]) =>
    history.map(([from, size]) => [knob, duration(size, query.domain), instant(from, query.domain)]),
  );
  if (rows.length === 0) return null;
  return <Facts title="Adjustable sizes" names={["what", "size", "from"]} rows={rows} />;
}

function Facts({ title, names, rows }: { title: string; names: string[]; rows: string[][] }) {
  return (
    <section className="q-factstable">
      <h2>{title}</h2>
      <div>
        <table>
          <thead>
            <tr>
              {names.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="numbers">
            {rows.map((row, n) => (
              <tr key={n}>
                {row.map((value, c) => (
                  <td key={names[c]}>{value}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
