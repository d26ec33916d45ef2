import { BaseEdge, EdgeLabelRenderer, getBezierPath, type Edge, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import type { Column } from "../../../api/types";

export interface FlowData extends Record<string, unknown> {
  state: "good" | "bad" | "open";
  /** Why nothing can flow here. */
  reason: string | null;
  columns: Column[] | null;
  shown: boolean;
}

export type FlowEdgeOf = Edge<FlowData, "flow">;

/** Rows flowing from one operator into another: green, or red with the reason. */
export const FlowEdge = memo(function FlowEdge(props: EdgeProps<FlowEdgeOf>) {
  const [path, x, y] = getBezierPath(props);
  const { state, reason, columns, shown } = props.data!;
  const told = shown || props.selected;
  return (
    <>
      <BaseEdge path={path} className={`link ${state}`} interactionWidth={24} />
      {(told || state === "bad") && (
        <EdgeLabelRenderer>
          <div
            className={`edge-note ${state}${told ? " told" : ""}`}
            style={{ transform: `translate(-50%, -50%) translate(${x}px, ${y}px)` }}
            role={told ? "tooltip" : undefined}
          >
            {state === "bad" ? (
              <>
                <span className="mark" aria-hidden>
                  !
                </span>
                {told && <span className="reason">{reason}</span>}
              </>
            ) : (
              <Flowing columns={columns} />
            )}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});

function Flowing({ columns }: { columns: Column[] | null }) {
  if (!columns) return <span>nothing flows here yet</span>;
  return (
    <ul>
      {columns.map((column, at) => (
        <li key={at}>
          {column.name} <span className="type">{column.type}</span>
        </li>
      ))}
    </ul>
  );
}
