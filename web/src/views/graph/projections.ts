import type { Graph, GraphNode } from "../../api/types";

/** What is computed from rows on their way out is no card of its own: it is told on the card below it. */
export type Projections = Map<number, GraphNode>;

/**
 * The projections that have no card, by the part on whose card they are told: each is all that reads
 * that part, and does nothing but compute columns.
 */
export function projectionsOf(graph: Graph): Projections {
  const readers = new Map<number, number>();
  const count = (id: number) => readers.set(id, (readers.get(id) ?? 0) + 1);
  graph.nodes.forEach((node) => node.inputs.forEach(count));
  graph.roots.forEach((root) => count(root.node));
  const changing = new Set(graph.migrations.flatMap((each) => [...each.old_nodes, ...each.new_nodes]));
  const found: Projections = new Map();
  const told = new Set<number>();
  for (const node of graph.nodes) {
    const [input, ...others] = node.inputs;
    if (node.operator !== "ProjectExec" || input === undefined || others.length > 0) continue;
    // During a migration everything is shown: people look at what comes and goes.
    if (readers.get(input) !== 1 || changing.has(node.id) || changing.has(input)) continue;
    if (found.has(input) || told.has(input)) continue;
    found.set(input, node);
    told.add(node.id);
  }
  return found;
}
