import { refusal } from "./connecting";
import type { Operator, Settings } from "./contract";
import { freshId, partOf, type Draft, type Part } from "./draft";

const STEP = 40;

function withPart(draft: Draft, id: string, change: (part: Part) => Part): Draft {
  return { ...draft, parts: draft.parts.map((part) => (part.id === id ? change(part) : part)) };
}

/** A new part at a place; parts are not laid exactly over each other. */
export function add(draft: Draft, operator: Operator, x: number, y: number, settings?: Settings): [Draft, string] {
  const id = freshId(draft, operator.kind);
  while (draft.parts.some((part) => part.x === x && part.y === y)) [x, y] = [x + STEP, y + STEP];
  const inputs = Array.from({ length: operator.inputs.min }, () => null);
  const part: Part = { id, kind: operator.kind, settings: { ...defaults(operator), ...settings }, inputs, x, y };
  return [{ ...draft, parts: [...draft.parts, part] }, id];
}

function defaults(operator: Operator): Settings {
  const known = operator.settings.filter((setting) => setting.default !== null);
  return Object.fromEntries(known.map((setting) => [setting.name, setting.default]));
}

/** Lets the rows of one part flow into a place of another; where that cannot be, nothing changes. */
export function connect(draft: Draft, from: string, to: string, place: number): Draft {
  if (refusal(draft, from, to, place) !== null) return draft;
  return withPart(draft, to, (part) => {
    const inputs = Array.from({ length: Math.max(place + 1, part.inputs.length) }, (_, at) => part.inputs[at] ?? null);
    inputs[place] = from;
    return { ...part, inputs };
  });
}

export function disconnect(draft: Draft, to: string, place: number): Draft {
  return withPart(draft, to, (part) => ({
    ...part,
    inputs: part.inputs.map((input, at) => (at === place ? null : input)),
  }));
}

/** Puts a part between another and what it reads at a place. */
export function insert(draft: Draft, id: string, to: string, place: number): Draft {
  const from = partOf(draft, to)?.inputs[place];
  if (!from) return draft;
  const fed = partOf(draft, id)?.inputs.length ? connect(draft, from, id, 0) : draft;
  return fed === draft ? draft : connect(fed, id, to, place);
}

/** Takes parts away; where one stood between two others, these are joined up. */
export function remove(draft: Draft, ids: readonly string[]): Draft {
  return ids.reduce(removeOne, draft);
}

function removeOne(draft: Draft, id: string): Draft {
  const gone = partOf(draft, id);
  if (!gone) return draft;
  const instead = gone.inputs.length === 1 ? gone.inputs[0]! : null;
  const parts = draft.parts
    .filter((part) => part.id !== id)
    .map((part) =>
      part.inputs.includes(id)
        ? { ...part, inputs: part.inputs.map((input) => (input === id ? instead : input)) }
        : part,
    );
  return { ...draft, parts, output: draft.output === id ? null : draft.output };
}

/** Copies of parts, beside them; connections among them are copied, those from others kept. */
export function duplicate(draft: Draft, ids: readonly string[]): [Draft, string[]] {
  const copies = new Map<string, string>();
  let grown = draft;
  for (const part of draft.parts.filter((each) => ids.includes(each.id))) {
    const id = freshId(grown, part.kind);
    copies.set(part.id, id);
    const copy = { ...part, id, settings: structuredClone(part.settings), x: part.x + STEP, y: part.y + STEP };
    grown = { ...grown, parts: [...grown.parts, copy] };
  }
  const renamed = (input: string | null) => (input && copies.get(input)) ?? input;
  const made = new Set(copies.values());
  const parts = grown.parts.map((part) =>
    made.has(part.id) ? { ...part, inputs: part.inputs.map(renamed) } : part,
  );
  return [{ ...grown, parts }, [...made]];
}

export function configure(draft: Draft, id: string, settings: Settings): Draft {
  return withPart(draft, id, (part) => ({ ...part, settings: { ...part.settings, ...settings } }));
}

export function move(draft: Draft, places: Readonly<Record<string, { x: number; y: number }>>): Draft {
  const parts = draft.parts.map((part) => {
    const place = places[part.id];
    return place && (place.x !== part.x || place.y !== part.y) ? { ...part, x: place.x, y: place.y } : part;
  });
  return parts.every((part, at) => part === draft.parts[at]) ? draft : { ...draft, parts };
}

export const choose = (draft: Draft, output: string | null): Draft => ({ ...draft, output });
