import { MarkerType } from "@xyflow/react";
import { columnsOf, errorsOf, nodeOf, reasonAt, warningsOf } from "../model/checked";
import { places } from "../model/connecting";
import type { CheckedPlan, Operator } from "../model/contract";
import { resultOf, type Draft, type Part } from "../model/draft";
import { says } from "../model/says";
import type { FlowData, FlowEdgeOf } from "./FlowEdge";
import type { OperatorFlowNode } from "./OperatorNode";

/** The place that a handle `in1` stands for. */
export const placeOf = (handle: string | null | undefined): number => Number(handle?.slice(2) ?? 0);

/** The parts as the canvas draws them; what it measured of them before is kept. */
export function flowNodes(
  draft: Draft,
  selected: readonly string[],
  operators: ReadonlyMap<string, Operator>,
  checked: CheckedPlan | null,
  old: readonly OperatorFlowNode[],
): OperatorFlowNode[] {
  const before = new Map(old.map((node) => [node.id, node]));
  const result = resultOf(draft);
  return draft.parts.map((part) => {
    const operator = operators.get(part.kind) ?? null;
    const names = operator ? places(operator, part.inputs) : part.inputs.map((_, at) => `input ${at + 1}`);
    const told = says(part, operator);
    const drawn = before.get(part.id);
    return {
      ...drawn,
      id: part.id,
      type: "operator",
      // What is being dragged stays in the hand, whatever the check says meanwhile.
      position: drawn?.dragging ? drawn.position : { x: part.x, y: part.y },
      selected: selected.includes(part.id),
      ariaLabel: `${operator?.title ?? part.kind} ${part.id}${told ? `: ${told}` : ""}`,
      data: {
        id: part.id,
        operator,
        says: told,
        places: names,
        connected: names.map((_, at) => Boolean(part.inputs[at])),
        state: isOpen(operator, part) ? "open" : (nodeOf(checked, part.id)?.state ?? null),
        columns: columnsOf(checked, part.id),
        error: errorsOf(checked, part.id)[0]?.message ?? null,
        warning: warningsOf(checked, part.id)[0]?.message ?? null,
        isResult: part.id === result,
      },
    };
  });
}

/** Whether an operator still lacks something to read: no mistake, but not done. */
const isOpen = (operator: Operator | null, part: Part): boolean =>
  part.inputs.filter(Boolean).length < (operator?.inputs.min ?? 0);

/** The connection under a point of the screen. */
export function edgeAt(x: number, y: number): { to: string; place: number } | null {
  const found = document.elementsFromPoint(x, y).find((element) => element.closest(".react-flow__edge"));
  const id = found?.closest<SVGElement>(".react-flow__edge")?.dataset.id;
  if (!id) return null;
  const [, to, place] = id.split("→");
  return { to: to!, place: Number(place) };
}

interface Attention {
  near: string | null;
  chosen: string | null;
  tell: (id: string | null) => void;
}

/** The connections as the canvas draws them, with what the check said of each. */
export function flowEdges(draft: Draft, checked: CheckedPlan | null, attention: Attention): FlowEdgeOf[] {
  return draft.parts.flatMap((part) =>
    part.inputs.flatMap((from, place) => (from ? [edge(part, from, place, checked, attention)] : [])),
  );
}

function edge(part: Part, from: string, place: number, checked: CheckedPlan | null, attention: Attention): FlowEdgeOf {
  const id = `${from}→${part.id}→${place}`;
  const data = dataOf(part, from, place, checked, attention.near === id);
  return {
    id,
    type: "flow",
    source: from,
    target: part.id,
    sourceHandle: "out",
    targetHandle: `in${place}`,
    selected: attention.chosen === id,
    ariaLabel: `from ${from} to ${part.id}: ${data.reason ?? (data.state === "good" ? "fits" : "not checked")}`,
    markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16, color: `var(--flow-${data.state})` },
    domAttributes: { onFocus: () => attention.tell(id), onBlur: () => attention.tell(null) },
    data,
  };
}

function dataOf(part: Part, from: string, place: number, checked: CheckedPlan | null, shown: boolean): FlowData {
  const columns = columnsOf(checked, from);
  const reason = reasonAt(checked, part, place)?.message ?? null;
  return { state: reason ? "bad" : columns ? "good" : "open", reason, columns, shown };
}
