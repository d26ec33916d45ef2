import type { Catalog } from "../../../api/types";
import type { Offer } from "../useDrag";
import type { Operator } from "./contract";

/** What the palette offers: every source of the catalog by its name, and every operator. */
export function offers(operators: ReadonlyMap<string, Operator>, catalog: Catalog | null): Offer[] {
  const all = [...operators.values()];
  const source = all.find((operator) => operator.inputs.max === 0);
  const entries = catalog === null ? [] : [...catalog.streams, ...catalog.relations, ...catalog.derived];
  const names = entries.map((entry) => entry.name);
  const sources = source ? names.map((name) => ({ operator: source, title: name, settings: { source: name } })) : [];
  return [...sources, ...all.map((operator) => ({ operator, title: operator.title }))];
}

/** The offers that have a text in their name or their summary, by group. */
export function grouped(all: Offer[], wanted: string): [string, Offer[]][] {
  const text = wanted.trim().toLowerCase();
  const groups = new Map<string, Offer[]>();
  for (const offer of all) {
    if (!`${offer.title} ${offer.operator.summary}`.toLowerCase().includes(text)) continue;
    const group = offer.settings ? "Your data" : offer.operator.group;
    groups.set(group, [...(groups.get(group) ?? []), offer]);
  }
  return [...groups];
}
