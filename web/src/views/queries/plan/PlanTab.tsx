import type { QueryEntry } from "../../../api/types";
export function PlanTab({ query }: { query: QueryEntry }) {
  return <pre>{query.sql}</pre>;
}
