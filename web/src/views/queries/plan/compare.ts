import type { PlanNode } from "../../../api/types";

export type Mark = "same" | "moved" | "changed" | "gone" | "new";

/** What became of operators, and what those that changed were or are in the other plan. */
export interface Marks {
  mark: Map<PlanNode, Mark>;
  other: Map<PlanNode, PlanNode>;
}

/** A plan from the top down, inputs from left to right. */
export const inOrder = (plan: PlanNode): PlanNode[] => [plan, ...plan.inputs.flatMap(inOrder)];

export const own = (node: PlanNode): string => `${node.operator} ${node.details}`;

/**
 * What became of each operator. Most stay where they are: the longest common sequence of both
 * plans. Of the rest, equal ones have moved; those of a kind between the same neighbours have
 * changed; the others are gone or new.
 */
export function compare(before: PlanNode, after: PlanNode): { before: Marks; after: Marks } {
  const [old, young] = [inOrder(before), inOrder(after)];
  const kept = common(old.map(own), young.map(own));
  const marks = { before: nothing(), after: nothing() };
  const pair = (a: PlanNode, b: PlanNode, mark: Mark) => {
    marks.before.mark.set(a, mark);
    marks.before.other.set(a, b);
    marks.after.mark.set(b, mark);
    marks.after.other.set(b, a);
  };
  kept.forEach(([i, j]) => pair(old[i]!, young[j]!, "same"));
  const left = (nodes: PlanNode[], known: Marks) => nodes.filter((node) => !known.mark.has(node));
  for (const node of left(old, marks.before)) {
    const again = left(young, marks.after).find((each) => own(each) === own(node));
    if (again) pair(node, again, "moved");
  }
  gaps(kept, old.length, young.length).forEach(([[a, b], [c, d]]) => {
    for (const node of left(old.slice(a, b), marks.before)) {
      const now = left(young.slice(c, d), marks.after).find((each) => each.operator === node.operator);
      if (now) pair(node, now, "changed");
    }
  });
  left(old, marks.before).forEach((node) => marks.before.mark.set(node, "gone"));
  left(young, marks.after).forEach((node) => marks.after.mark.set(node, "new"));
  return marks;
}

export const nothing = (): Marks => ({ mark: new Map(), other: new Map() });

/** The words of a text, and whether another text lacks them. */
export function words(text: string, other: string | undefined): { word: string; changed: boolean }[] {
  const known = new Set(other?.match(WORD));
  return (text.match(WORD) ?? []).map((word) => ({
    word,
    changed: other !== undefined && /\w/.test(word) && !known.has(word),
  }));
}

const WORD = /[\w.]+|[^\w.]+/g;

type Pair = [number, number];

/** The longest sequence that is in both, as pairs of places. */
export function common(a: string[], b: string[]): Pair[] {
  const length = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      length[i]![j] = a[i] === b[j] ? length[i + 1]![j + 1]! + 1 : Math.max(length[i + 1]![j]!, length[i]![j + 1]!);
  const pairs: Pair[] = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length;)
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (length[i + 1]![j]! >= length[i]![j + 1]!) i++;
    else j++;
  return pairs;
}

/** What lies between neighbours that stayed, in both plans. */
function gaps(kept: Pair[], old: number, young: number): [Pair, Pair][] {
  const ends: Pair[] = [...kept, [old, young]];
  return ends.map(([i, j], n) => {
    const [a, b] = n === 0 ? [0, 0] : [kept[n - 1]![0] + 1, kept[n - 1]![1] + 1];
    return [
      [a, i],
      [b, j],
    ];
  });
}
