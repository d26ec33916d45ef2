import type { Node, NodeProps } from "@xyflow/react";
import { createContext, memo, useContext, useEffect, useRef } from "react";
import type { GraphNode } from "../../api/types";
import { figure, share, times } from "./figures";
import { Icon } from "./Icon";
import { measures } from "./measures";
import { kindOf, shortDetails, titleOf } from "./names";
import type { Tint } from "./picture";
import { spot } from "./spot";

export type PartNode = Node<{ node: GraphNode; tint: Tint }, "part">;
export type QueryNode = Node<{ query: string }, "query">;

/** Whether the graph is looked at from so far away that nobody could read its numbers. */
export const FarAway = createContext(false);

/** A part of the graph: what it is, and what it does at the moment. */
export const Part = memo(function Part({ id, data, selected }: NodeProps<PartNode>) {
  const { node, tint } = data;
  const card = useRef<HTMLDivElement>(null);
  const far = useContext(FarAway);
  const shared = node.queries.length > 1;
  useEffect(() => spot.hold(id, card.current!), [id]);
  useEffect(() => (far ? undefined : showFigures(node.id, card.current!)), [far, node.id]);
  return (
    <div
      ref={card}
      className={`part ${kindOf(node.operator)} ${shared ? "shared" : ""} ${tint ?? ""} ${selected ? "selected" : ""}`}
      tabIndex={0}
      role="button"
      data-item={id}
      aria-label={`${titleOf(node.operator)} ${node.details}, used by ${node.queries.join(", ")}`}
    >
      {far ? <FarFace node={node} /> : <Face node={node} shared={shared} />}
    </div>
  );
});

function FarFace({ node }: { node: GraphNode }) {
  return <span className="far-title">{titleOf(node.operator)}</span>;
}

function Face({ node, shared }: { node: GraphNode; shared: boolean }) {
  return (
    <>
      <div className="part-head">
        <span className="part-icon">
          <Icon kind={kindOf(node.operator)} />
        </span>
        <strong>{titleOf(node.operator)}</strong>
        {shared && <span className="badge">{node.queries.length} queries</span>}
      </div>
      <div className="part-details">{shortDetails(node.operator, node.details) || " "}</div>
      <dl className="part-figures">
        <Cell name="rows/s" />
        <Cell name="select" />
        <Cell name="state" />
        <Cell name="time" />
      </dl>
      <span className="heat" />
    </>
  );
}

function Cell({ name }: { name: string }) {
  return (
    <div>
      <dd>–</dd>
      <dt>{name}</dt>
    </div>
  );
}

/** Writes the numbers of a part where they are shown, whenever there are new ones. */
function showFigures(id: number, card: HTMLElement): () => void {
  const cells = [...card.querySelectorAll("dd")].map((each) => each.firstChild as Text);
  const heat = card.querySelector<HTMLElement>(".heat")!;
  const write = () => {
    const busy = measures.get(id, "busy");
    const texts = [
      figure(measures.get(id, "output_rate")),
      times(measures.get(id, "selectivity")),
      figure(measures.get(id, "state_rows")),
      share(busy),
    ];
    texts.forEach((text, index) => {
      if (cells[index]!.data !== text) cells[index]!.data = text;
    });
    const length = `scaleX(${Number.isNaN(busy) ? 0 : Math.min(1, Math.sqrt(busy)).toFixed(2)})`;
    if (heat.style.transform !== length) heat.style.transform = length;
  };
  write();
  return measures.read(write);
}

/** The name of a query, below the last of its parts. */
export const QueryName = memo(function QueryName({ id, data, selected }: NodeProps<QueryNode>) {
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => spot.hold(id, card.current!), [id]);
  return (
    <div
      ref={card}
      className={`query-name ${selected ? "selected" : ""}`}
      tabIndex={0}
      role="button"
      data-item={id}
      aria-label={`The query ${data.query}`}
    >
      {data.query}
    </div>
  );
});
