import type { Graph, GraphNode, MigrationState } from "../../api/types";
import type { Item } from "./layout";
import { projectionsOf } from "./projections";

/** What is drawn: the parts, and below each root the name of its query. */
export type Drawn =
  | { type: "part"; id: string; node: GraphNode; then: GraphNode | null; tint: Tint; inputs: string[] }
  | { type: "query"; id: string; query: string; inputs: string[] };
export type Tint = "old" | "new" | "hand_over" | null;

export const partId = (id: number): string => `${id}`;
/** A query whose root is another one now gets another place. */
export const queryId = (query: string, root: number): string => `${root} ${query}`;

/** All that is drawn of a graph; of one query only, if it is named. */
export function drawnOf(graph: Graph, only: string): Drawn[] {
  const parts = graph.nodes.filter((node) => !only || node.queries.includes(only));
  const roots = graph.roots.filter((root) => !only || root.query === only);
  const projections = projectionsOf(graph);
  const carriers = new Map([...projections].map(([carrier, { id }]) => [id, carrier]));
  const cardOf = (id: number) => partId(carriers.get(id) ?? id);
  return [
    ...parts.filter((node) => !carriers.has(node.id)).map((node): Drawn => ({
      type: "part",
      id: partId(node.id),
      node,
      then: projections.get(node.id) ?? null,
      tint: tintOf(node, graph.migrations),
      inputs: node.inputs.map(cardOf),
    })),
    ...roots.map(({ query, node }): Drawn => ({ type: "query", id: queryId(query, node), query, inputs: [cardOf(node)] })),
  ];
}

/** Whether a part belongs to the old or the new plan of a query that is on its way. */
export function tintOf(node: GraphNode, migrations: MigrationState[]): Tint {
  if (node.role === "hand_over") return "hand_over";
  const old = migrations.some((each) => each.old_nodes.includes(node.id));
  const fresh = migrations.some((each) => each.new_nodes.includes(node.id));
  return old === fresh ? null : old ? "old" : "new"; // what both plans share is neither
}

export const itemsOf = (drawn: Drawn[]): Item[] => drawn.map(({ id, inputs }) => ({ id, inputs }));

/** Everything that a query is made of, its name included. */
export function partsOf(drawn: Drawn[], query: string): Set<string> {
  return new Set(drawn.filter((each) => usersOf(each).includes(query)).map((each) => each.id));
}

export const usersOf = (each: Drawn): string[] => (each.type === "part" ? each.node.queries : [each.query]);

/** Everything that has a text in its operator, details, or the names of its queries. */
export function found(drawn: Drawn[], text: string): Set<string> {
  const wanted = text.trim().toLowerCase();
  const words = (each: Drawn) =>
    each.type === "part" ? `${textOf(each.node)} ${each.then ? textOf(each.then) : ""} ${each.node.queries.join(" ")}` : each.query;
  return new Set(drawn.filter((each) => words(each).toLowerCase().includes(wanted)).map((each) => each.id));
}

const textOf = ({ operator, details }: GraphNode): string => `${operator} ${details}`;

const MOST_NAMES = 8;

/** Who uses a part; the first of them by name. */
export function usersInWords(queries: string[]): string {
  const [names, more] = [queries.slice(0, MOST_NAMES).join(", "), queries.length - MOST_NAMES];
  return more > 0 ? `used by ${queries.length} queries: ${names} and ${more} more` : `used by ${names || "no query"}`;
}
