import { useMemo, useState } from "react";
import type { Domain, PlanNode, PlanReport } from "../../../api/types";
import { Tabs } from "../query/Tabs";
import { compare, nothing } from "./compare";
import { MEASURES, mostOf, totalOf, type Total } from "./costs";
import { PlanTree } from "./PlanTree";

const LEVELS = ["Before and after", "Physical", "Stages", "Cost", "Rules in full"] as const;
type Level = (typeof LEVELS)[number];

/** A plan at every level: what was asked, what the rules made of it, and what will run. */
export function PlanPanel({ report }: { report: PlanReport }) {
  const [level, setLevel] = useState<Level>("Before and after");
  return (
    <Tabs label="Plan" tabs={LEVELS} chosen={level} choose={setLevel}>
      {level === "Before and after" && <BothPlans report={report} />}
      {level === "Physical" && <PhysicalPlan report={report} />}
      {level === "Stages" && <pre className="q-text">{report.texts.stages}</pre>}
      {level === "Cost" && <pre className="q-text">{report.texts.cost}</pre>}
      {level === "Rules in full" && <pre className="q-text">{report.texts.verbose}</pre>}
    </Tabs>
  );
}

interface Step {
  before: PlanNode;
  after: PlanNode;
  summary: string;
}

function stepOf(report: PlanReport, rule: number | null): Step {
  if (rule === null) {
    const count = report.rules.length;
    const summary =
      count === 0
        ? "No rule found anything to improve."
        : count === 1
          ? "One rule made this change."
          : `${count} rules made these changes.`;
    return { before: report.plans.logical, after: report.plans.optimized, summary };
  }
  const { before, after, summary } = report.rules[rule]!;
  return { before: before ?? report.rules[rule - 1]?.after ?? report.plans.logical, after, summary };
}

function BothPlans({ report }: { report: PlanReport }) {
  const [rule, setRule] = useState<number | null>(null);
  const [costs, setCosts] = useState(true);
  const [columns, setColumns] = useState(false);
  const { before, after, summary } = stepOf(report, rule);
  const marks = useMemo(() => compare(before, after), [before, after]);
  const most = useMemo(() => mostOf([before, after]), [before, after]);
  const showing = { domain: report.domain, most, costs, columns };
  return (
    <div className="q-plans">
      <ol className="q-rules" aria-label="Rules">
        <li>
          <button aria-pressed={rule === null} onClick={() => setRule(null)}>
            All rules
          </button>
        </li>
        {report.rules.map(({ name }, n) => (
          <li key={n}>
            <button aria-pressed={rule === n} onClick={() => setRule(n)}>
              <span className="quiet numbers">{n + 1}</span> {name.replaceAll("_", " ")}
            </button>
          </li>
        ))}
      </ol>
      <div className="q-planbar">
        <p>{summary}</p>
        <span className="q-fill" />
        {rule === null && <Totals before={totalOf(before)} after={totalOf(after)} domain={report.domain} />}
        <label>
          <input type="checkbox" checked={costs} onChange={() => setCosts(!costs)} /> Costs
        </label>
        <label>
          <input type="checkbox" checked={columns} onChange={() => setColumns(!columns)} /> Columns
        </label>
      </div>
      <div className="q-both">
        <PlanTree label="Before" plan={before} showing={{ ...showing, marks: marks.before }} />
        <PlanTree label="After" plan={after} showing={{ ...showing, marks: marks.after }} />
      </div>
    </div>
  );
}

function Totals({ before, after, domain }: { before: Total | null; after: Total | null; domain: Domain }) {
  if (!before || !after) return null;
  const shown = MEASURES.filter(({ name }) => name === "cpu" || name === "state_bytes");
  return (
    <span className="q-totals numbers" aria-label="Total">
      {shown.map(({ name, title, shown }) => (
        <span key={name}>
          {title} <span className="quiet">{shown(before, domain)} →</span> <strong>{shown(after, domain)}</strong>
        </span>
      ))}
    </span>
  );
}

function PhysicalPlan({ report }: { report: PlanReport }) {
  const showing = { domain: report.domain, marks: nothing(), most: {}, costs: false, columns: false };
  return (
    <div className="q-plans">
      <PlanTree label="Running plan" plan={report.plans.physical} showing={showing} />
    </div>
  );
}
