import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { memo } from "react";
import type { Column } from "../../../api/types";
import { handy } from "../model/columns";
import type { CheckedNode, Operator } from "../model/contract";
import { ColumnName } from "../ColumnName";
import { Glyph } from "../Glyph";

export interface OperatorData extends Record<string, unknown> {
  id: string;
  operator: Operator | null;
  /** What the settings say, in one line. */
  says: string;
  places: string[];
  connected: boolean[];
  state: CheckedNode["state"] | "open" | null;
  columns: Column[] | null;
  error: string | null;
  warning: string | null;
  isResult: boolean;
}

export type OperatorFlowNode = Node<OperatorData, "operator">;

const MANY = 4;
const WORDS = { open: "connect an input", waiting: "waits for its input" };

/** An operator as a card: its inputs above, what it does, and the columns that leave it below. */
export const OperatorNode = memo(function OperatorNode({ data, selected }: NodeProps<OperatorFlowNode>) {
  const { operator } = data;
  return (
    <div className={`op ${data.state ?? ""}${selected ? " selected" : ""}`} data-testid={`operator-${data.id}`}>
      {data.places.map((place, at) => (
        <Handle
          key={at}
          id={`in${at}`}
          type="target"
          position={Position.Top}
          className={data.connected[at] ? "used" : "free"}
          style={{ left: `${(100 * (at + 1)) / (data.places.length + 1)}%` }}
          aria-label={`${place} of ${data.id}`}
        >
          {data.places.length > 1 && <span className="place">{place}</span>}
        </Handle>
      ))}
      <header>
        <Glyph operator={operator} />
        <span className="title">{operator?.title ?? "unknown operator"}</span>
        {data.isResult && <span className="tag">result</span>}
      </header>
      {data.says && <div className="says">{data.says}</div>}
      <Below data={data} />
      <Handle id="out" type="source" position={Position.Bottom} aria-label={`result of ${data.id}`} />
    </div>
  );
});

/** What leaves the operator, or why nothing can. */
function Below({ data: { state, columns, error, warning } }: { data: OperatorData }) {
  if (state === "wrong") return <div className="wrong">{error}</div>;
  if (state === "open" || state === "waiting") return <div className="columns quiet">{WORDS[state]}</div>;
  if (!columns) return <div className="columns quiet">…</div>;
  const known = handy(columns);
  const more = known.length - MANY;
  return (
    <>
      <ul className="columns" aria-label="columns">
        {known.slice(0, MANY).map((column, at) => (
          <li key={at}>
            <ColumnName name={column.name} /> <span className="type">{column.type}</span>
          </li>
        ))}
        {more > 0 && <li className="quiet">and {more} more</li>}
      </ul>
      {warning && <div className="advice">{warning}</div>}
    </>
  );
}
