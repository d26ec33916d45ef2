import type { Node, NodeProps } from "@xyflow/react";
import { createContext, memo, useContext, useEffect, useRef } from "react";
import type { Domain, GraphNode } from "../../api/types";
import { figure, share, times } from "./figures";
import { Icon } from "./Icon";
import { measures } from "./measures";
import { kindOf, shortDetails, titleOf } from "./names";
import { usersInWords, type Tint } from "./picture";
import type { Distance } from "./sight";
import { spot } from "./spot";

export type PartNode = Node<{ node: GraphNode; then: GraphNode | null; tint: Tint; domain: Domain }, "part">;
export type QueryNode = Node<{ query: string }, "query">;

export const LookedAt = createContext<Distance>("near");

/** A part of the graph: what it is, and what it does at the moment. */
export const Part = memo(function Part({ id, data, selected }: NodeProps<PartNode>) {
  const { node, then, tint } = data;
  const card = useRef<HTMLDivElement>(null);
  const distance = useContext(LookedAt);
  const shared = node.queries.length > 1;
  useEffect(() => spot.hold(id, card.current!), [id]);
  useEffect(() => showFigures(node, data.domain, card.current!), [distance, node, data.domain]);
  return (
    <div
      ref={card}
      className={`part ${kindOf(node.operator)} ${shared ? "shared" : ""} ${tint ?? ""} ${selected ? "selected" : ""}`}
      tabIndex={0}
      role="button"
      data-item={id}
      aria-label={`${titleOf(node)} ${shortDetails(node, data.domain)}${thenOf(then)}, ${usersInWords(node.queries)}`}
    >
      {distance === "near" ? <Face node={node} then={then} shared={shared} domain={data.domain} /> : <FarFace node={node} />}
    </div>
  );
});

function FarFace({ node }: { node: GraphNode }) {
  return (
    <div className="far-face">
      <strong>{titleOf(node)}</strong>
      <span data-figure="speed">–</span>
      <span className="heat" />
    </div>
  );
}

/** The columns that are computed of what a part gives, in a few words. */
const thenOf = (then: GraphNode | null): string => (then ? ` → ${shortDetails(then, null)}` : "");

interface FaceProps {
  node: GraphNode;
  then: GraphNode | null;
  shared: boolean;
  domain: Domain;
}

function Face({ node, then, shared, domain }: FaceProps) {
  return (
    <>
      <div className="part-head">
        <span className="part-icon">
          <Icon kind={kindOf(node.operator)} />
        </span>
        <strong>{titleOf(node)}</strong>
        {shared && <span className="badge">{node.queries.length}</span>}
      </div>
      <div className="part-details">
        <span data-figure={node.window === null ? undefined : "details"}>{shortDetails(node, domain) || " "}</span>
        {thenOf(then)}
      </div>
      <dl className="part-figures">
        <Cell figure="rate" name="rows/s" />
        <Cell figure="kept" name="sel." />
        <Cell figure="state" name="state" />
        <Cell figure="busy" name="time" />
      </dl>
      <span className="heat" />
    </>
  );
}

function Cell({ figure, name }: { figure: string; name: string }) {
  return (
    <div>
      <dd data-figure={figure}>–</dd>
      <dt>{name}</dt>
    </div>
  );
}

const FIGURES: Record<string, (node: GraphNode, domain: Domain) => string> = {
  // The size of a window may change without the graph becoming another one.
  details: (node, domain) => shortDetails({ ...node, window: measures.get(node.id, "window") || node.window }, domain),
  rate: ({ id }) => figure(measures.get(id, "output_rate")),
  speed: ({ id }) => `${figure(measures.get(id, "output_rate"))}/s`,
  kept: ({ id }) => times(measures.get(id, "selectivity")),
  state: ({ id }) => figure(measures.get(id, "state_rows")),
  busy: ({ id }) => share(measures.get(id, "busy")),
};

/** Writes the numbers of a part where they are shown, whenever there are new ones. */
function showFigures(node: GraphNode, domain: Domain, card: HTMLElement): () => void {
  const places = [...card.querySelectorAll<HTMLElement>("[data-figure]")];
  const cells = places.map((each) => ({ text: each.firstChild as Text, of: FIGURES[each.dataset.figure!]! }));
  const heat = card.querySelector<HTMLElement>(".heat")!;
  const write = () => {
    for (const cell of cells) {
      const text = cell.of(node, domain);
      if (cell.text.data !== text) cell.text.data = text;
    }
    warm(heat, measures.get(node.id, "busy"));
  };
  write();
  return measures.read(write);
}

function warm(heat: HTMLElement, busy: number): void {
  const length = `scaleX(${Number.isNaN(busy) ? 0 : Math.min(1, Math.sqrt(busy)).toFixed(2)})`;
  if (heat.style.transform !== length) heat.style.transform = length;
}

/** The name of a query, below the last of its parts. */
export const QueryName = memo(function QueryName({ id, data, selected }: NodeProps<QueryNode>) {
  const card = useRef<HTMLDivElement>(null);
  const distance = useContext(LookedAt);
  useEffect(() => spot.hold(id, card.current!), [id]);
  return (
    <div
      ref={card}
      className={`query-name ${distance} ${selected ? "selected" : ""}`}
      tabIndex={0}
      role="button"
      data-item={id}
      aria-label={`The query ${data.query}`}
    >
      {/* Another size is another text: nothing that is there moves. */}
      <span key={distance}>{data.query}</span>
    </div>
  );
});
