import { speedOf, widthOf, type Line } from "./routing";
import type { Box } from "./boxes";
import { measures } from "./measures";
import { spot } from "./spot";

type Transform = [x: number, y: number, zoom: number];

const DASH = [3, 13];
/** Pixels around what is in sight that are drawn as well, so that a move finds them there (see graph.css). */
const MARGIN = 160;
/** While the graph is moved, lines are drawn anew this often at most. */
const SHIFT_MS = 250;
/** Dashes are moved this often; more would not look better. */
const FRAME_MS = 30;
/** Where frames take this long, moving dashes are more than the machine can do. */
const TOO_SLOW_MS = 55;

/** Draws lines whose width, and the speed of whose dashes, follow the rates of the moment. */
export class LinePainter {
  private readonly context: CanvasRenderingContext2D;
  private colours = { line: "", flow: "" };
  private kinds = new Map<string, string>();
  private readonly phases: Float64Array;
  private last = 0;
  private drawn: Transform | null = null;
  private pace = FRAME_MS;
  private tired = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly lines: Line[],
    private readonly boxes: Box[],
    /** Whether items are spots of colour, not cards. */
    private readonly showsBoxes: () => boolean,
  ) {
    this.context = canvas.getContext("2d")!;
    this.phases = new Float64Array(lines.length);
    this.readColours();
    this.resize();
  }

  readColours(): void {
    const style = getComputedStyle(this.canvas);
    const colour = (name: string) => style.getPropertyValue(name);
    this.colours = { line: colour("--wire"), flow: colour("--flow") };
    this.kinds = new Map(this.boxes.map((box) => [box.colour, colour(box.colour)]));
  }

  resize(): void {
    this.canvas.width = Math.round(this.canvas.clientWidth * devicePixelRatio);
    this.canvas.height = Math.round(this.canvas.clientHeight * devicePixelRatio);
    this.drawn = null;
  }

  /**
   * Draws all that is in sight; says whether it wants to go on. Many lines are not drawn for every
   * step of a move: what was drawn is moved along.
   */
  paint(transform: Transform, now: number, moving: boolean): boolean {
    const goes = moving && !this.tired;
    const passed = now - this.last;
    const moved = this.drawn !== null && !same(this.drawn, transform);
    if (!goes && moved && passed < SHIFT_MS && this.covers(transform)) {
      this.shift(transform);
      return true;
    }
    if (goes && !moved && passed < FRAME_MS) return true;
    if (goes) this.feel(Math.min(passed, 100));
    this.last = now;
    this.drawn = transform;
    this.shift(transform);
    this.draw(transform, goes ? Math.min(passed, 100) / 1000 : 0, goes);
    return goes;
  }

  private shift([x, y, zoom]: Transform): void {
    const [fromX, fromY, from] = this.drawn!;
    const factor = zoom / from;
    const [left, top] = [x - factor * fromX + MARGIN * (1 - factor), y - factor * fromY + MARGIN * (1 - factor)];
    this.canvas.style.transform = factor === 1 && left === 0 && top === 0 ? "" : `translate(${left}px, ${top}px) scale(${factor})`;
  }

  /** Whether what was drawn, moved along, still fills what is in sight. */
  private covers([x, y, zoom]: Transform): boolean {
    const [fromX, fromY, from] = this.drawn!;
    const { clientWidth, clientHeight } = this.canvas.parentElement!;
    const factor = zoom / from;
    const [left, top] = [x - factor * (fromX + MARGIN), y - factor * (fromY + MARGIN)];
    const reach = (length: number) => factor * (length + 2 * MARGIN);
    return left <= 0 && top <= 0 && left + reach(clientWidth) >= clientWidth && top + reach(clientHeight) >= clientHeight;
  }

  private feel(passed: number): void {
    this.pace += 0.03 * (passed - this.pace);
    this.tired = this.pace > TOO_SLOW_MS;
  }

  private draw([x, y, zoom]: Transform, seconds: number, moving: boolean): void {
    const { context, canvas } = this;
    const scale = devicePixelRatio;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(scale * zoom, 0, 0, scale * zoom, scale * (x + MARGIN), scale * (y + MARGIN));
    context.lineCap = "round";
    const [left, top] = [-(x + MARGIN) / zoom, -(y + MARGIN) / zoom];
    const [right, bottom] = [left + canvas.width / scale / zoom, top + canvas.height / scale / zoom];
    this.lines.forEach((line, index) => {
      const rate = measures.get(line.source, "output_rate");
      const phase = (this.phases[index] = (this.phases[index]! + seconds * speedOf(rate)) % (DASH[0]! + DASH[1]!));
      if (line.right < left || line.left > right || line.bottom < top || line.top > bottom) return;
      this.stroke(line, rate, phase, zoom, moving);
    });
    if (this.showsBoxes()) this.fill();
    context.globalAlpha = 1;
  }

  /** From far away, items are drawn here: there may be hundreds in sight. */
  private fill(): void {
    for (const { id, colour, left, top, width, height } of this.boxes) {
      this.context.globalAlpha = spot.isDim(id) ? 0.15 : 0.7;
      this.context.fillStyle = this.kinds.get(colour)!;
      this.context.fillRect(left, top, width, height);
    }
  }

  private stroke(line: Line, rate: number, phase: number, zoom: number, moving: boolean): void {
    const { context } = this;
    const width = Math.max(widthOf(rate), 0.8 / zoom);
    context.globalAlpha = spot.isDim(line.from) || spot.isDim(line.to) ? 0.12 : 1;
    context.setLineDash([]);
    context.lineWidth = width;
    context.strokeStyle = this.colours.line;
    context.stroke(line.path);
    if (!moving || !(rate > 0) || zoom < 0.3) return;
    context.setLineDash(DASH);
    context.lineDashOffset = -phase;
    context.lineWidth = Math.max(1.5, 0.6 * width);
    context.strokeStyle = this.colours.flow;
    context.stroke(line.path);
  }
}

const same = (a: Transform, b: Transform): boolean => a.every((value, index) => value === b[index]);
