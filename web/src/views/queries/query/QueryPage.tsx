import type { EditorView } from "@codemirror/view";
import { useState, type RefObject } from "react";
import type { Catalog, Problem, QueryEntry } from "../../../api/types";
import { short } from "../../../parts/format";
import { Trouble } from "../../../parts/Help";
import { linkTo } from "../../../shell/routes";
import { Out } from "../icons";
import { PlanTab } from "../plan/PlanTab";
import { ResultsTab } from "../results/ResultsTab";
import { Actions } from "./Actions";
import { DetailsTab } from "./DetailsTab";
import { SqlTab } from "./SqlTab";
import { Tabs } from "./Tabs";

export const TABS = ["Results", "Plan", "SQL", "Details"] as const;
export type Tab = (typeof TABS)[number];

interface Props {
  query: QueryEntry;
  catalog: Catalog | null;
  handle: RefObject<EditorView | null>;
  tab: Tab;
  choose: (tab: Tab) => void;
  changed: () => void;
}

/** Everything about one query. */
export function QueryPage({ query, catalog, handle, tab, choose, changed }: Props) {
  const [problem, setProblem] = useState<Problem | null>(null);
  function done(found: Problem | null) {
    setProblem(found);
    changed();
  }
  return (
    <section className="q-page" aria-label={`Query ${query.name}`}>
      <div className="q-title">
        <h1>{query.name}</h1>
        <span className={`q-state ${query.state}`}>{query.migration ? "changing" : query.state}</span>
        <span className="quiet numbers q-given">{short(query.rows_out)} rows given</span>
        <span className="q-fill" />
        <a className="button" href={linkTo("compose", query.name)}>
          <Out /> Open in the composer
        </a>
        <Actions query={query} wide done={done} />
      </div>
      {problem && <Trouble problem={problem} />}
      {query.error && <Trouble problem={{ message: query.error }} />}
      <Tabs label="Query" tabs={TABS} chosen={tab} choose={choose}>
        {tab === "Results" && <ResultsTab query={query} />}
        {tab === "Plan" && <PlanTab query={query} />}
        {tab === "SQL" && <SqlTab query={query} catalog={catalog} handle={handle} changed={changed} />}
        {tab === "Details" && <DetailsTab query={query} />}
      </Tabs>
    </section>
  );
}
