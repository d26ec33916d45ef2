import {
  applyNodeChanges,
  Background,
  ReactFlow,
  type Connection,
  type FinalConnectionState,
  type NodeChange,
} from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useCallback, useEffect, useMemo, useState, type RefObject } from "react";
import { freePlace, refusal } from "../model/connecting";
import { partOf, type Draft } from "../model/draft";
import { connect, disconnect, move, remove } from "../model/edits";
import { useComposing } from "../useComposing";
import { FlowEdge, type FlowEdgeOf } from "./FlowEdge";
import { flowEdges, flowNodes, placeOf } from "./flow";
import { OperatorNode, type OperatorFlowNode } from "./OperatorNode";

const NODES = { operator: OperatorNode };
const EDGES = { flow: FlowEdge };

/** Where operators lie and are connected; data flows from top to bottom. */
export function Canvas({ at, edit }: { at: RefObject<HTMLDivElement | null>; edit: (id: string) => void }) {
  const { draft, selected, dispatch, operators, checked } = useComposing();
  const [nodes, setNodes] = useState<OperatorFlowNode[]>([]);
  const [near, setNear] = useState<string | null>(null);
  const [chosen, setChosen] = useState<string | null>(null);
  useEffect(
    () => setNodes((old) => flowNodes(draft, selected, operators, checked, old)),
    [draft, selected, operators, checked],
  );
  const edges = useMemo(
    () => flowEdges(draft, checked, { near, chosen, tell: setNear }),
    [draft, checked, near, chosen],
  );

  const changed = useCallback(
    (changes: NodeChange<OperatorFlowNode>[]) => {
      const kept = changes.filter((change) => change.type !== "remove");
      setNodes((old) => applyNodeChanges(kept, old));
      const picks = changes.filter((change) => change.type === "select");
      if (picks.length) {
        const now = new Set(selected);
        for (const pick of picks) pick.selected ? now.add(pick.id) : now.delete(pick.id);
        dispatch({ type: "select", ids: [...now] });
      }
      const places = Object.fromEntries(
        changes.flatMap((each) =>
          each.type === "position" && !each.dragging && each.position ? [[each.id, each.position]] : [],
        ),
      );
      if (Object.keys(places).length)
        dispatch({ type: "edit", change: (now) => move(now, places), topic: `move ${Object.keys(places)}` });
    },
    [dispatch, selected],
  );

  const linked = useCallback(
    ({ source, target, targetHandle }: Connection) =>
      dispatch({ type: "edit", change: (now) => connect(now, source, target, placeOf(targetHandle)) }),
    [dispatch],
  );

  /** Dropped on the body of an operator: its first free place is meant. */
  const ended = useCallback(
    (event: MouseEvent | TouchEvent, connection: FinalConnectionState) => {
      if (connection.isValid || connection.fromHandle?.type !== "source") return;
      const to = connection.toNode?.id ?? nodeUnder(event);
      const part = partOf(draft, to);
      const operator = part && operators.get(part.kind);
      const place = operator ? freePlace(operator, part.inputs) : null;
      if (part && place !== null)
        dispatch({ type: "edit", change: (now) => connect(now, connection.fromNode!.id, part.id, place) });
    },
    [dispatch, draft, operators],
  );

  return (
    <div className="canvas" ref={at} data-testid="canvas">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODES}
        edgeTypes={EDGES}
        onNodesChange={changed}
        onEdgesChange={(changes) => {
          const picks = changes.filter((change) => change.type === "select");
          if (picks.length) setChosen(picks.find((pick) => pick.selected)?.id ?? null);
        }}
        onConnect={linked}
        onConnectEnd={ended}
        isValidConnection={({ source, target, targetHandle }) =>
          refusal(draft, source, target, placeOf(targetHandle)) === null
        }
        onDelete={({ nodes: gone, edges: cut }) => {
          dispatch({ type: "edit", change: (now) => without(now, gone.map((node) => node.id), cut) });
          setNear(null);
          setChosen(null);
        }}
        onNodeDoubleClick={(_, node) => edit(node.id)}
        onEdgeMouseEnter={(_, edge) => setNear(edge.id)}
        onEdgeMouseLeave={() => setNear(null)}
        deleteKeyCode={["Delete", "Backspace"]}
        multiSelectionKeyCode={["Shift", "Control", "Meta"]}
        connectionRadius={36}
        minZoom={0.2}
        maxZoom={1.6}
        snapToGrid
        snapGrid={[10, 10]}
      >
        <Background gap={20} size={1.5} color="var(--dots)" />
      </ReactFlow>
    </div>
  );
}

/** Without operators, and without connections that did not go with them. */
function without(draft: Draft, gone: string[], cut: FlowEdgeOf[]): Draft {
  const single = cut.filter((edge) => !gone.includes(edge.source) && !gone.includes(edge.target));
  return single.reduce(
    (all, edge) => disconnect(all, edge.target, placeOf(edge.targetHandle)),
    remove(draft, gone),
  );
}

function nodeUnder(event: MouseEvent | TouchEvent): string | null {
  const point = "changedTouches" in event ? event.changedTouches[0] : event;
  const under = point && document.elementFromPoint(point.clientX, point.clientY);
  return under?.closest<HTMLElement>(".react-flow__node")?.dataset.id ?? null;
}
