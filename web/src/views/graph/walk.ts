import type { Places } from "./layout";
import type { Drawn } from "./picture";

export type Step = "ArrowUp" | "ArrowDown" | "ArrowLeft" | "ArrowRight";
export const isStep = (key: string): key is Step =>
  ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].includes(key);

/** Where an arrow key leads: up to what is read, down to who reads, or to the next in the row. */
export function walk(from: string, step: Step, drawn: Drawn[], places: Places): string | null {
  const here = places[from];
  if (!here) return null;
  const nearest = (ids: string[]) =>
    ids
      .filter((id) => places[id])
      .sort((a, b) => Math.abs(places[a]!.x - here.x) - Math.abs(places[b]!.x - here.x))[0] ?? null;
  if (step === "ArrowUp") return nearest(drawn.find((each) => each.id === from)?.inputs ?? []);
  if (step === "ArrowDown") return nearest(drawn.filter((each) => each.inputs.includes(from)).map((each) => each.id));
  const side = step === "ArrowLeft" ? -1 : 1;
  return nearest(drawn.map((each) => each.id).filter((id) => places[id]?.row === here.row && side * (places[id].x - here.x) > 0));
}

/** In reading order: row by row, each from the left; so that Tab goes as the rows flow. */
export function inReadingOrder<T extends { id: string }>(drawn: T[], places: Places): T[] {
  const placed = drawn.filter((each) => places[each.id]);
  return placed.sort((a, b) => {
    const [p, q] = [places[a.id]!, places[b.id]!];
    return p.row - q.row || p.x - q.x;
  });
}
