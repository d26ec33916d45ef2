import type { QueryEntry } from "../../../api/types";
import { instant } from "../../../parts/format";

/** What else is known of a query. */
export function DetailsTab({ query }: { query: QueryEntry }) {
  const facts: [string, string][] = [
    ["State", query.state],
    ["Rows given", query.rows_out.toLocaleString("en")],
    ["Answers complete from", instant(query.complete_from, query.domain)],
    ["Reads", query.depends_on.join(", ") || "–"],
    ["Results go to", query.sink],
  ];
  return (
    <dl className="q-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="numbers">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
