import { useEffect, useState } from "react";
import { get, part, Refused } from "../../../api/client";
import type { PlanReport, Problem, QueryEntry } from "../../../api/types";
import { Trouble } from "../../../parts/Help";
import { PlanPanel } from "./PlanPanel";

/** The plan of a query, asked for again when the query becomes another. */
export function PlanTab({ query }: { query: QueryEntry }) {
  const [report, setReport] = useState<PlanReport | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const migrating = query.migration !== null;
  useEffect(() => {
    const stop = new AbortController();
    get<PlanReport>(`queries/${part(query.name)}/plan`, stop.signal)
      .then((found) => (setReport(found), setProblem(null)))
      .catch((error) => error instanceof Refused && setProblem(error.problem));
    return () => stop.abort();
  }, [query.name, query.sql, migrating]);
  if (problem) return <Trouble problem={problem} />;
  return report ? <PlanPanel report={report} /> : <p className="quiet">Planning…</p>;
}
