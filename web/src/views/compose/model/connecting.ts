import type { Operator } from "./contract";
import { consumers, partOf, upstream, type Draft, type Part } from "./draft";

/** Why the rows of one part cannot flow into a place of another; null if they can. */
export function refusal(draft: Draft, from: string, to: string, place: number): string | null {
  const [source, target] = [partOf(draft, from), partOf(draft, to)];
  if (!source || !target) return "one of the operators is gone";
  if (from === to) return "an operator cannot read its own rows";
  if (upstream(draft, from).has(to)) return "this would make a loop";
  if (target.inputs[place] === from) return "they are already connected";
  return null;
}

/** The parts that a place may be connected to. */
export const candidates = (draft: Draft, to: string, place: number): string[] =>
  draft.parts.filter((part) => refusal(draft, part.id, to, place) === null).map((part) => part.id);

const PAIR = ["left", "right"];

/** The names of the places of a part, one more than is in use where it may have more. */
export function places(operator: Operator, inputs: readonly (string | null)[]): string[] {
  const { min, max } = operator.inputs;
  const used = inputs.reduce((last, input, at) => (input ? at + 1 : last), 0);
  const count = Math.min(Math.max(min, used + 1), max ?? Infinity);
  return Array.from({ length: count }, (_, at) => (max === 2 ? PAIR[at]! : count === 1 ? "input" : `input ${at + 1}`));
}

/** The first place where nothing is connected. */
export function freePlace(operator: Operator, inputs: readonly (string | null)[]): number | null {
  const free = places(operator, inputs).findIndex((_, at) => !inputs[at]);
  return free < 0 ? null : free;
}

/**
 * What a new operator goes on from: all parts that nothing reads from, if it joins as many, from
 * left to right; otherwise the chosen part, or the only such one.
 */
export function openEnds(draft: Draft, selected: string | null, operator: Operator): Part[] {
  const ends = draft.parts.filter((part) => consumers(draft, part.id).length === 0);
  if (operator.inputs.min === 0) return [];
  const takesAll = operator.inputs.min > 1 && ends.length === operator.inputs.min;
  if (takesAll) return ends.sort((one, other) => one.x - other.x);
  const chosen = partOf(draft, selected);
  return chosen ? [chosen] : ends.length === 1 ? ends : [];
}
