import { inputsFirst, PITCH, STEP, type Item, type Place, type Places } from "./layout";

/** A picture wider than so many times its height is folded. */
const TOO_WIDE = 3.2;
const WANTED = 1.6;

interface Shape {
  left: number;
  /** How wide a band is. */
  width: number;
  rows: number;
}

/**
 * Many queries over few streams make a picture that is very wide and flat: it is cut into bands
 * that go below each other. The sources stay at the top; nothing comes to stand above what it reads.
 */
export function fold(items: Item[], places: Places): Places {
  const all = Object.values(places);
  const left = Math.min(...all.map((place) => place.x));
  const span = Math.max(...all.map((place) => place.x)) - left + STEP;
  const rows = Math.max(...all.map((place) => place.row)) + 1;
  if (span < TOO_WIDE * rows * PITCH) return places;
  const bands = Math.max(2, Math.round(Math.sqrt(span / (WANTED * rows * PITCH))));
  return inBands(items, places, { left, width: Math.ceil(span / bands), rows });
}

function inBands(items: Item[], places: Places, { left, width, rows }: Shape): Places {
  const isSource = (item: Item) => places[item.id]!.row === 0;
  const [folded, height] = sourcesOnTop(items.filter(isSource), places, { left, width, rows });
  const bands = new Map<string, number>();
  for (const item of inputsFirst(items)) {
    if (isSource(item)) continue;
    const { x, row } = places[item.id]!;
    const band = Math.max(Math.floor((x - left) / width), ...item.inputs.map((id) => bands.get(id) ?? 0));
    bands.set(item.id, band);
    folded[item.id] = { x: x - band * width, row: height + band * (rows - 1) + row - 1 };
  }
  return folded;
}

/** The sources beside each other, in as many rows as they need. */
function sourcesOnTop(sources: Item[], places: Places, { left, width }: Shape): [Places, number] {
  const sorted = [...sources].sort((a, b) => places[a.id]!.x - places[b.id]!.x);
  const columns = Math.max(1, Math.min(sorted.length, Math.floor(width / STEP)));
  const place = (index: number): Place => ({
    x: Math.round(left + ((index % columns) + 0.5) * (width / columns) - STEP / 2),
    row: Math.floor(index / columns),
  });
  return [Object.fromEntries(sorted.map((item, index) => [item.id, place(index)])), Math.ceil(sorted.length / columns)];
}
