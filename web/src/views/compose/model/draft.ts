import type { Composed, Level, Settings } from "./contract";

/** An operator on the canvas. A place of `inputs` that nothing is connected to is null. */
export interface Part {
  id: string;
  kind: string;
  settings: Settings;
  inputs: (string | null)[];
  x: number;
  y: number;
}

/**
 * What is being composed. Without a chosen `output`, the result is the last part in the flow.
 * `opened` is the query whose plan it was when it was opened.
 */
export interface Draft {
  level: Level;
  name: string;
  opened: string | null;
  parts: Part[];
  output: string | null;
}

export function emptyDraft(level: Level = "logical"): Draft {
  return { level, name: "", opened: null, parts: [], output: null };
}

export const partOf = (draft: Draft, id: string | null | undefined): Part | undefined =>
  draft.parts.find((part) => part.id === id);

/** A name that no part has yet: the kind and a number. */
export function freshId(draft: Draft, kind: string): string {
  const taken = new Set(draft.parts.map((part) => part.id));
  let number = 1;
  while (taken.has(`${kind}${number}`)) number += 1;
  return `${kind}${number}`;
}

/** Where the result of a part goes: the parts and the places of their inputs. */
export function consumers(draft: Draft, id: string): { id: string; place: number }[] {
  return draft.parts.flatMap((part) =>
    part.inputs.flatMap((input, place) => (input === id ? [{ id: part.id, place }] : [])),
  );
}

/** The part whose rows are the result: the chosen one, or the last that nothing reads from. */
export function resultOf(draft: Draft): string | null {
  if (partOf(draft, draft.output)) return draft.output;
  const ends = draft.parts.filter((part) => consumers(draft, part.id).length === 0);
  const fed = ends.filter((part) => part.inputs.some(Boolean));
  return (fed.at(-1) ?? ends.at(-1))?.id ?? null;
}

/** The parts that a part's rows come from, itself among them. */
export function upstream(draft: Draft, id: string, found = new Set<string>()): Set<string> {
  const part = partOf(draft, id);
  if (!part || found.has(id)) return found;
  found.add(id);
  for (const input of part.inputs) if (input) upstream(draft, input, found);
  return found;
}

/** The draft as the server takes it: inputs are those that are there, in their order. */
export function toComposed(draft: Draft): Composed {
  return {
    level: draft.level,
    nodes: draft.parts.map((part) => ({ ...part, inputs: part.inputs.filter((input) => input !== null) })),
    output: resultOf(draft),
  };
}

/** The number among the inputs, as the server counts them, of a place. */
export const numberOf = (part: Part, place: number): number => part.inputs.slice(0, place).filter(Boolean).length;

/** A composed plan as a draft. */
export function fromComposed(plan: Composed, name = "", opened: string | null = null): Draft {
  return {
    level: plan.level,
    name,
    opened,
    output: plan.output,
    parts: plan.nodes.map((node) => ({ ...node, x: node.x ?? 0, y: node.y ?? 0 })),
  };
}
