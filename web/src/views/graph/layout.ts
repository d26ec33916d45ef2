import { Graph, layout } from "@dagrejs/dagre";
import { fold } from "./fold";

/** Something to lay out: a part of the graph, or the name of a query below its root. */
export interface Item {
  id: string;
  inputs: string[];
}

/** The middle of an item, and the row it is in; sources are in row 0. */
export interface Place {
  x: number;
  row: number;
}
export type Places = Record<string, Place>;

export const WIDTH = 188;
export const HEIGHT = 96;
export const GAP = 20;
export const PITCH = HEIGHT + 48;

export const STEP = WIDTH + GAP;
/** The room that all places take; it begins at the top of row 0. */
export function boundsOf(places: Places): { left: number; right: number; bottom: number } {
  const all = Object.values(places);
  return {
    left: Math.min(...all.map((place) => place.x)) - WIDTH / 2,
    right: Math.max(...all.map((place) => place.x)) + WIDTH / 2,
    bottom: Math.max(...all.map((place) => place.row)) * PITCH + HEIGHT,
  };
}

/** If less than this share of the items has a place, all are laid out anew. */
const ENOUGH_KNOWN = 0.5;

/**
 * Places for all items. Those that have one keep it to the pixel, so that a graph in which a query
 * starts or stops does not move; new ones take the nearest free place below what they read.
 */
export function arrange(items: Item[], known: Places): Places {
  const kept = items.filter((item) => known[item.id]).length;
  return kept < ENOUGH_KNOWN * items.length || kept === 0 ? arrangeAnew(items) : fillIn(items, known);
}

/** All places by dagre: rows by the longest way from a source, few crossings; folded if too wide. */
export function arrangeAnew(items: Item[]): Places {
  // Edges lead from readers to what they read, and the picture is turned over: so the sources are
  // what dagre lays out first, all of them in one row.
  const graph = new Graph()
    .setGraph({ rankdir: "BT", ranker: "longest-path", nodesep: GAP, ranksep: PITCH - HEIGHT, edgesep: 10 })
    .setDefaultEdgeLabel(() => ({}));
  for (const { id } of items) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  for (const { id, inputs } of items)
    for (const input of inputs) if (graph.hasNode(input)) graph.setEdge(id, input);
  layout(graph);
  const places: Places = {};
  for (const { id } of items) {
    const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number };
    places[id] = { x: Math.round(x), row: Math.round((y - HEIGHT / 2) / PITCH) };
  }
  return fold(items, places);
}

function fillIn(items: Item[], known: Places): Places {
  const places: Places = {};
  const rows = new Map<number, number[]>();
  const put = (id: string, place: Place) => {
    places[id] = place;
    rows.set(place.row, [...(rows.get(place.row) ?? []), place.x]);
  };
  const homeless = inputsFirst(items).filter((item) => {
    const place = known[item.id];
    const stays = place && item.inputs.every((id) => (places[id]?.row ?? Infinity) < place.row);
    if (stays) put(item.id, place);
    return !stays;
  });
  for (const item of homeless) put(item.id, placeFor(item, places, rows));
  return places;
}

function placeFor(item: Item, places: Places, rows: Map<number, number[]>): Place {
  const above = item.inputs.flatMap((id) => places[id] ?? []);
  const row = Math.max(-1, ...above.map((place) => place.row)) + 1;
  const taken = rows.get(row) ?? [];
  const wish = above.length ? mean(above.map((place) => place.x)) : Math.max(0, ...taken) + STEP;
  return { x: Math.round(nearestFree(wish, taken)), row };
}

const mean = (values: number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

/** The middle nearest to a wish at which an item overlaps none of those in its row. */
export function nearestFree(wish: number, taken: number[]): number {
  const candidates = [wish, ...taken.flatMap((x) => [x - STEP, x + STEP])];
  const free = candidates.filter((x) => taken.every((other) => Math.abs(other - x) >= STEP - 1));
  return free.reduce((best, x) => (Math.abs(x - wish) < Math.abs(best - wish) ? x : best), free[0]!);
}

/** Items in an order in which everything comes after what it reads. */
export function inputsFirst(items: Item[]): Item[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  const found: Item[] = [];
  const seen = new Set<string>();
  const visit = (item: Item) => {
    if (seen.has(item.id)) return;
    seen.add(item.id);
    for (const id of item.inputs) if (byId.has(id)) visit(byId.get(id)!);
    found.push(item);
  };
  items.forEach(visit);
  return found;
}
