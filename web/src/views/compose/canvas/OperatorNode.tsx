import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { memo } from "react";
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
  checked: CheckedNode | null;
  isResult: boolean;
}

export type OperatorFlowNode = Node<OperatorData, "operator">;

const MANY = 6;

/** An operator as a card: its inputs above, what it does, and the columns that leave it below. */
export const OperatorNode = memo(function OperatorNode({ data, selected }: NodeProps<OperatorFlowNode>) {
  const { operator, checked } = data;
  const state = checked?.error ? "bad" : checked?.columns ? "good" : "open";
  return (
    <div className={`op ${state}${selected ? " selected" : ""}`} data-testid={`operator-${data.id}`}>
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
      <Below checked={checked} />
      <Handle id="out" type="source" position={Position.Bottom} aria-label={`result of ${data.id}`} />
    </div>
  );
});

/** What leaves the operator, or why nothing can. */
function Below({ checked }: { checked: CheckedNode | null }) {
  if (checked?.error) return <div className="wrong">{checked.error.message}</div>;
  if (!checked?.columns) return <div className="columns quiet">not connected yet</div>;
  const more = checked.columns.length - MANY;
  return (
    <ul className="columns" aria-label="columns">
      {checked.columns.slice(0, more > 0 ? MANY - 1 : MANY).map((column, at) => (
        <li key={at}>
          <ColumnName name={column.name} /> <span className="type">{column.type}</span>
        </li>
      ))}
      {more > 0 && <li className="quiet">and {more + 1} more</li>}
    </ul>
  );
}
