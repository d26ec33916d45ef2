import { MiniMap, ReactFlow, ReactFlowProvider, useReactFlow, useStore } from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { memo, useCallback, useEffect, useMemo, useRef } from "react";
import { Controls } from "./Controls";
import { useFlowNodes, type FlowNode } from "./flowNodes";
import { HEIGHT, PITCH, type Places } from "./layout";
import { Lines } from "./Lines";
import { linesOf } from "./routing";
import { kindOf } from "./names";
import { distanceOf, LookedAt, Part, QueryName } from "./Part";
import { partsOf, usersOf, type Drawn } from "./picture";
import { spot } from "./spot";
import { Tip } from "./Tip";
import { firstSight } from "./sight";
import type { Domains } from "./useDomains";
import { isStep, walk } from "./walk";

export interface FlowProps {
  picture: string;
  drawn: Drawn[];
  places: Places;
  domains: Domains;
  /** What is open in the panel. */
  open: string | null;
  /** Where the keyboard should go. */
  goal: { id: string } | null;
  choose: (each: Drawn | null) => void;
  tidy: () => void;
}

const TYPES = { part: Part, query: QueryName };
const NO_LINES: [] = [];
const FIT = { padding: 0.08, maxZoom: 1, minZoom: 0.02 };

export const Flow = memo(function Flow(props: FlowProps) {
  return (
    <ReactFlowProvider>
      <Inner {...props} />
    </ReactFlowProvider>
  );
});

function Inner({ picture, drawn, places, domains, open, goal, choose, tidy }: FlowProps) {
  const frame = useRef<HTMLDivElement>(null);
  const nodes = useFlowNodes(drawn, places, open, domains);
  const lines = useMemo(() => linesOf(drawn, places), [drawn, places]);
  const byId = useMemo(() => new Map(drawn.map((each) => [each.id, each])), [drawn]);
  const distance = useStore((state) => distanceOf(state.transform[2]));
  const goTo = useGoTo(frame, places);
  const { fitView } = useReactFlow();
  useFirstSight(frame, picture, drawn, places);
  useEffect(() => {
    if (goal) goTo(goal.id);
  }, [goal, goTo]);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const id = (event.target as HTMLElement).closest<HTMLElement>("[data-item]")?.dataset.item;
    if (event.key === "Escape") choose(null);
    if (id === undefined) return;
    if (event.key === "Enter" || event.key === " ") choose(byId.get(id) ?? null);
    else if (isStep(event.key)) goTo(walk(id, event.key, drawn, places));
    else return;
    event.preventDefault();
  };
  const onEnter = useCallback((id: string) => light(byId.get(id), drawn), [byId, drawn]);
  return (
    <div className="flow" ref={frame} onKeyDown={onKeyDown} onFocus={(event) => onEnter(itemOf(event.target))} onBlur={() => spot.point(null)}>
      <LookedAt value={distance}>
        <ReactFlow<FlowNode>
          nodes={nodes}
          edges={NO_LINES}
          nodeTypes={TYPES}
          onNodeClick={(_, node) => choose(byId.get(node.id) ?? null)}
          onNodeMouseEnter={(_, node) => onEnter(node.id)}
          onNodeMouseLeave={() => spot.point(null)}
          onPaneClick={() => choose(null)}
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
          aria-label="The running graph: arrow keys walk along it, Enter opens details"
        >
          <Lines lines={lines} items={drawn.length} />
          <MiniMap<FlowNode> className="map" pannable zoomable nodeClassName={classOf} nodeBorderRadius={12} ariaLabel="Overview of the graph" />
          <Controls fit={() => void fitView(FIT)} tidy={tidy} />
        </ReactFlow>
      </LookedAt>
      <Tip byId={byId} frame={frame} />
    </div>
  );
}

/** A small graph is shown as a whole; of a large one as much as can be read, from the sources on. */
function useFirstSight(frame: React.RefObject<HTMLDivElement | null>, picture: string, drawn: Drawn[], places: Places): void {
  const { setViewport } = useReactFlow();
  const newest = useRef({ drawn, places });
  newest.current = { drawn, places };
  useEffect(() => {
    const { width, height } = frame.current!.getBoundingClientRect();
    void setViewport(firstSight(newest.current.drawn, newest.current.places, width, height));
  }, [frame, picture, setViewport]);
}

const itemOf = (element: Element): string => element.closest<HTMLElement>("[data-item]")?.dataset.item ?? "";

const classOf = (node: FlowNode): string => (node.type === "part" ? kindOf(node.data.node.operator) : "name");

/** The name of a query lights up what the query is made of. */
function light(each: Drawn | undefined, drawn: Drawn[]): void {
  if (each?.type === "query") spot.point(partsOf(drawn, usersOf(each)[0]!));
}

/** Brings something into sight and gives it the keyboard. */
function useGoTo(frame: React.RefObject<HTMLDivElement | null>, places: Places): (id: string | null) => void {
  const { setCenter, getViewport, flowToScreenPosition } = useReactFlow();
  return useCallback(
    (id) => {
      const place = id === null ? undefined : places[id];
      if (!place) return;
      const y = place.row * PITCH + HEIGHT / 2;
      const at = flowToScreenPosition({ x: place.x, y });
      const seen = frame.current!.getBoundingClientRect();
      const inside = at.x > seen.left + 90 && at.x < seen.right - 90 && at.y > seen.top + 50 && at.y < seen.bottom - 50;
      const zoom = getViewport().zoom;
      const close = distanceOf(zoom) === "near";
      if (!inside || !close) void setCenter(place.x, y, { zoom: close ? zoom : 0.9 });
      focusSoon(frame.current!, id!, 30);
    },
    [frame, places, setCenter, getViewport, flowToScreenPosition],
  );
}

/** What was out of sight is there some frames later. */
function focusSoon(frame: HTMLElement, id: string, tries: number): void {
  const element = frame.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`);
  if (element) element.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focusSoon(frame, id, tries - 1));
}
