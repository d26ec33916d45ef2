import { useState } from "react";
import type { PlanNode } from "../../../api/types";
import { bytes, percent, short } from "../../../parts/format";
import type { Plans } from "../model/contract";

const STAGES = { logical: "As composed", optimized: "Optimized", physical: "As it runs" } as const;
type Stage = keyof typeof STAGES;

/** The plan at every stage, with what each operator is expected to cost. */
export function Explain({ plans }: { plans: Plans | null }) {
  const [wanted, setWanted] = useState<Stage>("optimized");
  if (!plans) return <p className="quiet">The physical plan is shown once the plan is valid.</p>;
  const stages = (Object.keys(STAGES) as Stage[]).filter((stage) => plans[stage]);
  const stage = stages.includes(wanted) ? wanted : stages.at(-1)!;
  return (
    <div className="explain">
      <div className="switch" role="radiogroup" aria-label="Stage">
        {stages.map((each) => (
          <button key={each} role="radio" aria-checked={each === stage} onClick={() => setWanted(each)}>
            {STAGES[each]}
          </button>
        ))}
      </div>
      <Costs root={plans[stage]!} />
    </div>
  );
}

function Costs({ root }: { root: PlanNode }) {
  return (
    <table className="numbers">
      <thead>
        <tr>
          <th scope="col">Operator</th>
          <th scope="col">Rows / s</th>
          <th scope="col">Live rows</th>
          <th scope="col">State</th>
          <th scope="col">CPU</th>
        </tr>
      </thead>
      <tbody>
        {lines(root).map(({ node, depth }, at) => (
          <tr key={at}>
            <td className="tree" style={{ paddingLeft: `${0.6 + depth * 1.1}rem` }}>
              <strong>{node.operator}</strong> <span className="quiet">{node.details}</span>
            </td>
            <td>{short(node.cost?.rate)}</td>
            <td>{short(node.cost?.live_rows)}</td>
            <td>{bytes(node.cost?.state_bytes)}</td>
            <td>{share(node.cost?.cpu)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A part of one processor; most operators need very little of it. */
function share(cpu: number | undefined): string {
  if (cpu === undefined) return "–";
  return cpu > 0 && cpu < 1e-4 ? "<0.01%" : percent(cpu);
}

function lines(node: PlanNode, depth = 0): { node: PlanNode; depth: number }[] {
  return [{ node, depth }, ...node.inputs.flatMap((input) => lines(input, depth + 1))];
}
