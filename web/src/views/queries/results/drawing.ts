import uPlot from "uplot";
import { risers, type Bar, type Picture } from "./picture";

/** What a chart shows, besides its axes. */
export interface Scene {
  picture: Picture;
  colours: string[];
  quiet: string;
  accent: string;
  /** Only this series in full colour, if any. */
  lit: string | null;
  at: number | null;
  completeUntil: number | null;
}

const FEW = 90;
const MANY = 400;

/** Draws bars from where rows begin to where they end; in between nothing is made up. */
export function draw(u: uPlot, scene: Scene): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  drawIncomplete(u, scene);
  drawBars(u, scene.picture.rest, scene.quiet, scene.picture.rest.length > MANY ? 0.3 : 0.4, scene);
  scene.picture.series.forEach(({ key, bars }, n) => {
    const faded = scene.lit !== null && scene.lit !== key;
    const colour = scene.colours[n % scene.colours.length]!;
    if (scene.picture.kind === "steps") drawRisers(u, bars, colour, faded ? 0.1 : 0.45);
    drawBars(u, bars, colour, faded ? 0.18 : 1, scene);
  });
  drawInstant(u, scene);
  ctx.restore();
}

const px = (value: number): number => value * uPlot.pxRatio;

function drawIncomplete(u: uPlot, { completeUntil, quiet }: Scene): void {
  if (completeUntil === null) return;
  const { ctx, bbox } = u;
  const left = Math.max(u.valToPos(completeUntil, "x", true), bbox.left);
  const right = bbox.left + bbox.width;
  if (left >= right) return;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, bbox.top, right - left, bbox.height);
  ctx.clip();
  ctx.strokeStyle = quiet;
  ctx.globalAlpha = 0.35;
  ctx.lineWidth = px(1);
  ctx.beginPath();
  for (let x = left - bbox.height; x < right; x += px(7)) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.stroke();
  ctx.restore();
}

function drawBars(u: uPlot, bars: Bar[], colour: string, alpha: number, { picture, completeUntil }: Scene): void {
  const { ctx, bbox } = u;
  const ends = picture.kind === "steps" && bars.length <= FEW;
  ctx.globalAlpha = alpha;
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.lineWidth = px(picture.kind === "lanes" ? 9 : bars.length > MANY ? 1.5 : 2.5);
  ctx.lineCap = "butt";
  ctx.beginPath();
  for (const bar of bars) {
    const [left, right, y] = edges(u, bar);
    // A row that holds for an instant only is still to be seen, and so is where the next begins.
    ctx.moveTo(left, y);
    ctx.lineTo(Math.max(picture.kind === "lanes" ? right - px(1.5) : right, left + px(2)), y);
  }
  ctx.stroke();
  if (ends && alpha === 1)
    for (const bar of bars) {
      const [left, right, y] = edges(u, bar);
      if (right - left < px(10)) continue;
      dot(u, left, y, true);
      // What is cut where the answer is complete has not ended there.
      if (right < bbox.left + bbox.width && bar.to !== completeUntil) dot(u, right, y, false);
    }
  ctx.globalAlpha = 1;
}

function edges(u: uPlot, bar: Bar): [number, number, number] {
  const right = u.bbox.left + u.bbox.width;
  const end = Number.isFinite(bar.to) ? u.valToPos(bar.to, "x", true) : right;
  return [
    Math.max(u.valToPos(bar.from, "x", true), u.bbox.left - px(4)),
    Math.min(end, right + px(4)),
    u.valToPos(bar.y, "y", true),
  ];
}

/** Rows hold at their first instant, and no longer at the one where they end. */
function dot({ ctx, root }: uPlot, x: number, y: number, full: boolean): void {
  ctx.beginPath();
  ctx.arc(x, y, px(3.2), 0, 2 * Math.PI);
  if (full) return ctx.fill();
  ctx.save();
  ctx.fillStyle = getComputedStyle(root).backgroundColor;
  ctx.fill();
  ctx.lineWidth = px(1.5);
  ctx.stroke();
  ctx.restore();
}

function drawRisers(u: uPlot, bars: Bar[], colour: string, alpha: number): void {
  const { ctx } = u;
  ctx.globalAlpha = alpha;
  ctx.strokeStyle = colour;
  ctx.lineWidth = px(1.2);
  ctx.beginPath();
  for (const { at, low, high } of risers(bars)) {
    const x = u.valToPos(at, "x", true);
    ctx.moveTo(x, u.valToPos(low, "y", true));
    ctx.lineTo(x, u.valToPos(high, "y", true));
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
}

function drawInstant(u: uPlot, { at, accent }: Scene): void {
  if (at === null) return;
  const { ctx, bbox } = u;
  const x = Math.round(u.valToPos(at, "x", true));
  ctx.strokeStyle = accent;
  ctx.lineWidth = px(1.5);
  ctx.setLineDash([px(5), px(4)]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** A colour of the style sheet as a canvas takes it. */
export function colourOf(style: CSSStyleDeclaration, name: string): string {
  const value = style.getPropertyValue(name).trim();
  const both = /^light-dark\((.*?),(.*)\)$/.exec(value);
  if (!both) return value;
  return (style.colorScheme.startsWith("dark") ? both[2]! : both[1]!).trim();
}
