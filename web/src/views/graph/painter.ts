import { speedOf, widthOf, type Line } from "./routing";
import { measures } from "./measures";
import { spot } from "./spot";

type Transform = [x: number, y: number, zoom: number];

const DASH = [3, 13];
/** Dashes are moved this often; more would not look better. */
const FRAME_MS = 30;
/** Where frames take this long, moving dashes are more than the machine can do. */
const TOO_SLOW_MS = 55;

/** Draws lines whose width, and the speed of whose dashes, follow the rates of the moment. */
export class LinePainter {
  private readonly context: CanvasRenderingContext2D;
  private colours = { line: "", flow: "" };
  private readonly phases: Float64Array;
  private last = 0;
  private seen: Transform | null = null;
  private pace = FRAME_MS;
  private tired = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly lines: Line[],
  ) {
    this.context = canvas.getContext("2d")!;
    this.phases = new Float64Array(lines.length);
    this.readColours();
    this.resize();
  }

  readColours(): void {
    const style = getComputedStyle(this.canvas);
    this.colours = { line: style.getPropertyValue("--wire"), flow: style.getPropertyValue("--flow") };
  }

  resize(): void {
    const scale = devicePixelRatio;
    this.canvas.width = Math.round(this.canvas.clientWidth * scale);
    this.canvas.height = Math.round(this.canvas.clientHeight * scale);
  }

  /** Draws all that is in sight; says whether it wants to go on moving. */
  paint(transform: Transform, now: number, moving: boolean): boolean {
    const goes = moving && !this.tired;
    const passed = Math.min(now - this.last, 100);
    if (goes && passed < FRAME_MS && transform === this.seen) return true;
    if (goes) this.feel(passed);
    this.last = now;
    this.seen = transform;
    this.draw(transform, goes ? passed / 1000 : 0, goes);
    return goes;
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
    context.setTransform(scale * zoom, 0, 0, scale * zoom, scale * x, scale * y);
    context.lineCap = "round";
    const [left, top] = [-x / zoom, -y / zoom];
    const [right, bottom] = [left + canvas.clientWidth / zoom, top + canvas.clientHeight / zoom];
    this.lines.forEach((line, index) => {
      const rate = measures.get(line.source, "output_rate");
      const phase = (this.phases[index] = (this.phases[index]! + seconds * speedOf(rate)) % (DASH[0]! + DASH[1]!));
      if (line.right < left || line.left > right || line.bottom < top || line.top > bottom) return;
      this.stroke(line, rate, phase, zoom, moving);
    });
    context.globalAlpha = 1;
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
