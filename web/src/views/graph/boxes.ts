import { HEIGHT, PITCH, WIDTH, type Places } from "./layout";
import { kindOf } from "./names";
import type { Drawn } from "./picture";

/** What stands for an item from so far away that it is only a spot of colour. */
export interface Box {
  id: string;
  /** The name of its colour. */
  colour: string;
  left: number;
  top: number;
  width: number;
  height: number;
}

export function boxesOf(drawn: Drawn[], places: Places): Box[] {
  return drawn.flatMap((each) => {
    const place = places[each.id];
    if (!place) return [];
    const [colour, width, height] =
      each.type === "part" ? [`--kind-${kindOf(each.node.operator)}`, WIDTH, HEIGHT] : ["--accent", WIDTH * 0.8, HEIGHT * 0.34];
    return [{ id: each.id, colour, left: place.x - width / 2, top: place.row * PITCH, width, height }];
  });
}

/** The item at a point of the picture. */
export function boxAt(boxes: Box[], x: number, y: number): string | null {
  const hit = boxes.find((box) => x >= box.left && x <= box.left + box.width && y >= box.top && y <= box.top + box.height);
  return hit?.id ?? null;
}
