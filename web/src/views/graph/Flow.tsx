import { ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { memo, useCallback, useEffect, useMemo, useRef } from "react";
import { boxAt, boxesOf } from "./boxes";
import { Controls } from "./Controls";
import { useFlowNodes, type FlowNode } from "./flowNodes";
import type { Places } from "./layout";
import { Lines } from "./Lines";
import { Overview } from "./Overview";
import { LookedAt, Part, QueryName } from "./Part";
import { partsOf, type Drawn } from "./picture";
import { linesOf } from "./routing";
import { favourite } from "./sight";
import { spot } from "./spot";
import { Tip } from "./Tip";
import type { Queries } from "../../live/useQueries";
import { useDistance } from "./useDistance";
import { useGoTo, useSight } from "./useSight";
import { isStep, walk } from "./walk";

export interface FlowProps {
  picture: string;
  drawn: Drawn[];
  places: Places;
  queries: Queries;
  /** What is open in the panel. */
  open: string | null;
  /** Where the keyboard should go. */
  goal: { id: string } | null;
  choose: (each: Drawn | null) => void;
  tidy: () => void;
}

const TYPES = { part: Part, query: QueryName };
const NONE: [] = [];

export const Flow = memo(function Flow(props: FlowProps) {
  return (
    <ReactFlowProvider>
      <Inner {...props} />
    </ReactFlowProvider>
  );
});

function Inner({ picture, drawn, places, queries, open, goal, choose, tidy }: FlowProps) {
  const frame = useRef<HTMLDivElement>(null);
  const { distance, moveStarts, moveEnds } = useDistance(frame);
  const nodes = useFlowNodes(drawn, places, open, queries);
  const lines = useMemo(() => linesOf(drawn, places), [drawn, places]);
  const boxes = useMemo(() => boxesOf(drawn, places), [drawn, places]);
  const byId = useMemo(() => new Map(drawn.map((each) => [each.id, each])), [drawn]);
  const showAll = useSight(frame, picture, drawn, places);
  const goTo = useGoTo(frame, places, open);
  useEffect(() => {
    if (goal) goTo(goal.id);
  }, [goal, goTo]);
  const { screenToFlowPosition } = useReactFlow();
  /** What an event is about: a card, or from far away a spot of colour. */
  const itemOf = useCallback(
    (event: Event): string | null => {
      const target = event.target as Element;
      const card = target.closest<HTMLElement>("[data-item]");
      if (card || distance !== "dots" || !(event instanceof MouseEvent) || !target.matches(".react-flow__pane")) return card?.dataset.item ?? null;
      const { x, y } = screenToFlowPosition({ x: event.clientX, y: event.clientY });
      return boxAt(boxes, x, y);
    },
    [boxes, distance, screenToFlowPosition],
  );
  const enter = useCallback((id: string | null) => spot.point(litBy(byId.get(id ?? ""), drawn)), [byId, drawn]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const id = itemOf(event.nativeEvent) ?? (event.target === frame.current ? favourite(drawn) : null);
    if (id === null) return;
    if (event.key === "Enter" || event.key === " ") choose(byId.get(id) ?? null);
    else if (isStep(event.key)) goTo(event.target === frame.current ? id : walk(id, event.key, drawn, places));
    else return;
    event.preventDefault();
  };
  return (
    <div
      className="flow"
      ref={frame}
      tabIndex={distance === "dots" ? 0 : -1}
      aria-label="The running graph: arrow keys walk along it, Enter opens details"
      onKeyDown={onKeyDown}
    >
      <LookedAt value={distance}>
        <ReactFlow<FlowNode>
          nodes={distance === "dots" ? NONE : nodes}
          edges={NONE}
          nodeTypes={TYPES}
          onNodeClick={(_, node) => choose(byId.get(node.id) ?? null)}
          onPaneClick={(event) => choose(byId.get(itemOf(event.nativeEvent) ?? "") ?? null)}
          onMoveStart={moveStarts}
          onMoveEnd={moveEnds}
          onlyRenderVisibleElements
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          deleteKeyCode={null}
          minZoom={0.02}
          maxZoom={1.6}
          zoomOnDoubleClick={false}
        >
          <Lines lines={lines} boxes={boxes} />
          <Overview drawn={drawn} places={places} />
          <Controls fit={showAll} tidy={tidy} />
        </ReactFlow>
      </LookedAt>
      <Tip byId={byId} frame={frame} itemOf={itemOf} enter={enter} />
    </div>
  );
}

/** The name of a query lights up what the query is made of; a part leaves the light on. */
const litBy = (each: Drawn | undefined, drawn: Drawn[]): Set<string> | null =>
  each?.type === "query" ? partsOf(drawn, each.query) : null;
