import { boundsOf, type Places } from "./layout";
import { usersOf, type Drawn } from "./picture";

export interface Sight {
  x: number;
  y: number;
  zoom: number;
}

/** From where the graph is looked at: nearby all is shown, from afar a little, then spots of colour. */
export type Distance = "near" | "far" | "dots";
/** Up to where the words of a card, and those of a card from afar, are 11 pixels high and more. */
const READABLE = { near: 0.9, far: 0.48 };
export const distanceOf = (zoom: number): Distance => (zoom >= READABLE.near ? "near" : zoom >= READABLE.far ? "far" : "dots");

const NEAREST_FIRST: Distance[] = ["near", "far", "dots"];
export const isFurther = (a: Distance, b: Distance): boolean => NEAREST_FIRST.indexOf(a) > NEAREST_FIRST.indexOf(b);

const MARGIN = 28;
/** No smaller than this at first: what a part is can still be read. */
const SMALLEST = READABLE.far;
const PANEL = 380;
const NARROW = 760;
const SHEET = 0.62;

/** Everything. */
export function whole(places: Places, width: number, height: number): Sight {
  const { left, right, bottom } = boundsOf(places);
  const zoom = Math.min((width - 2 * MARGIN) / (right - left), (height - 2 * MARGIN) / bottom, 1);
  // Somewhat above the middle: rows flow down, and a picture hangs from its sources.
  return { x: width / 2 - ((left + right) / 2) * zoom, y: Math.max(MARGIN, (height - bottom * zoom) / 2.6), zoom };
}

/** Where to look first: at everything, or if that could not be read, at the source that most queries read. */
export function firstSight(drawn: Drawn[], places: Places, width: number, height: number): Sight {
  const all = whole(places, width, height);
  if (all.zoom >= SMALLEST) return all;
  return { x: width / 2 - places[favourite(drawn)]!.x * SMALLEST, y: MARGIN, zoom: SMALLEST };
}

/** The source that most queries read. */
export function favourite(drawn: Drawn[]): string {
  const sources = drawn.filter((each) => each.inputs.length === 0);
  return sources.reduce((best, each) => (usersOf(each).length > usersOf(best).length ? each : best), sources[0]!).id;
}

/** What the panel leaves of the stage: it is at the right, or on a phone at the bottom. */
export function freeRoom({ width, height }: { width: number; height: number }, panel: boolean): { width: number; height: number } {
  if (!panel) return { width, height };
  return width < NARROW ? { width, height: height * (1 - SHEET) } : { width: width - PANEL, height };
}
