import { useEffect, useState } from "react";
import { get, part, post, Refused } from "../../../api/client";
import type { PlanReport, Problem, QueryEntry } from "../../../api/types";
import { Trouble } from "../../../parts/Help";
import { PlanPanel } from "./PlanPanel";

/** The plan of a query, asked for again when the query becomes another. */
export function PlanTab({ query }: { query: QueryEntry }) {
  const version = `${query.name} ${query.migration !== null} ${query.sql}`;
  return <Planned version={version} ask={(signal) => get<PlanReport>(`queries/${part(query.name)}/plan`, signal)} />;
}

/** The plan that a query which is being written would have. */
export function DraftPlan({ sql }: { sql: string }) {
  return <Planned version={sql} ask={(signal) => post<PlanReport>("plan", { sql }, signal)} />;
}

function Planned({ version, ask }: { version: string; ask: (signal: AbortSignal) => Promise<PlanReport> }) {
  const [report, setReport] = useState<PlanReport | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    ask(stop.signal)
      .then((found) => (setReport(found), setProblem(null)))
      .catch((error) => error instanceof Refused && setProblem(error.problem));
    return () => stop.abort();
  }, [version]);
  if (problem) return <Trouble problem={problem} />;
  return report ? <PlanPanel report={report} /> : <p className="quiet">Planning…</p>;
}
