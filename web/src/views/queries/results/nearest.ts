import type uPlot from "uplot";
import type { Bar, Picture } from "./picture";

/** A bar under the cursor, and where the cursor is. */
export interface Found {
  bar: Bar;
  series: string | null;
  left: number;
  top: number;
  /** The cursor is in the right half, and what is said of the bar stands at its left. */
  right: boolean;
}

const REACH = 28;

/** The bar that is nearest to the cursor, if any is near. */
export function nearest(u: uPlot, picture: Picture): Found | null {
  const { left = -1, top = -1 } = u.cursor;
  if (left < 0 || top < 0) return null;
  const at = u.posToVal(left, "x");
  const slack = Math.abs(u.posToVal(left + 4, "x") - at);
  const height = u.over.clientHeight;
  const place = {
    left: left + u.over.offsetLeft,
    top: Math.min(Math.max(top, 40), height - 40),
    right: left > u.over.clientWidth / 2,
  };
  let [best, far]: [Found | null, number] = [null, REACH];
  const consider = (bar: Bar, series: string | null) => {
    if (bar.from - slack > at || bar.to + slack < at) return;
    const distance = Math.abs(u.valToPos(bar.y, "y") - top);
    if (distance < far) [best, far] = [{ bar, series, ...place }, distance];
  };
  for (const { key, bars } of picture.series) for (const bar of bars) consider(bar, key);
  if (best === null) for (const bar of picture.rest) consider(bar, null);
  return best;
}
