import { useEffect, useLayoutEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Domain } from "../../../api/types";
import { onRecolour } from "../../../parts/theme";
import { timeAxis, valueAxis, valueRange } from "./axes";
import { colourOf, draw } from "./drawing";
import { nearest, type Found } from "./nearest";
import type { Picture, Window } from "./picture";

interface Props {
  picture: Picture;
  window: Window;
  domain: Domain;
  at: number | null;
  completeUntil: number | null;
  lit: string | null;
  /** A number of a colour for each series. */
  paint: number[];
  look: (at: number) => void;
  hover: (found: Found | null) => void;
}

export const COLOURS = 8;

/** Validity intervals over time. Click or drag to look at an instant. */
export function IntervalChart(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = useRef(props);
  const [wide, setWide] = useState(true);
  const { picture, window, at, lit, completeUntil } = props;
  useLayoutEffect(() => {
    now.current = props;
  });
  useLayoutEffect(() => plot.current?.setData(dataOf(now.current)), [picture, window, at, lit, completeUntil]);
  useEffect(() => {
    const place = box.current!;
    plot.current = make(place, now, wide);
    const watcher = new ResizeObserver(() => {
      plot.current?.setSize({ width: place.clientWidth, height: place.clientHeight });
      setWide(place.clientWidth > 560);
    });
    watcher.observe(place);
    const forget = scrub(plot.current, now);
    const settle = onRecolour(() => plot.current?.redraw(false));
    return () => {
      watcher.disconnect();
      settle();
      forget();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [picture.kind, props.domain, wide]);
  return <div className="q-plot" ref={box} data-testid="chart" />;
}

type Now = { current: Props };

// uPlot has the axes, the scales and the cursor; the rows are drawn by us, for they overlap and have gaps.
const dataOf = ({ window }: Props): uPlot.AlignedData => [
  [window.start, window.end],
  [null, null],
];

function make(place: HTMLElement, now: Now, wide: boolean): uPlot {
  const style = () => getComputedStyle(place);
  const look = { quiet: () => colourOf(style(), "--quiet"), line: () => colourOf(style(), "--line") };
  return new uPlot(
    {
      width: place.clientWidth,
      height: place.clientHeight,
      legend: { show: false },
      padding: [8, 10, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: () => [now.current.window.start, now.current.window.end] },
        y: { range: () => valueRange(now.current.picture) },
      },
      axes: [timeAxis(now.current.domain, look), valueAxis(() => now.current.picture, wide, look)],
      series: [{}, { show: true }],
      hooks: {
        draw: [(u) => drawNow(u, now.current, style())],
        setCursor: [(u) => now.current.hover(nearest(u, now.current.picture))],
      },
    },
    dataOf(now.current),
    place,
  );
}

function drawNow(u: uPlot, props: Props, style: CSSStyleDeclaration): void {
  const { picture, lit, at, completeUntil, paint } = props;
  const colours = paint.map((number) => colourOf(style, `--series-${(number % COLOURS) + 1}`));
  draw(u, {
    picture,
    lit,
    at,
    completeUntil,
    colours,
    quiet: colourOf(style, "--quiet"),
    accent: colourOf(style, "--text"),
  });
}

/** A press picks the instant, and a drag goes along time. */
function scrub(u: uPlot, now: Now): () => void {
  const pick = (event: PointerEvent) => {
    const { left } = u.over.getBoundingClientRect();
    now.current.look(Math.round(u.posToVal(event.clientX - left, "x")));
  };
  const down = (event: PointerEvent) => {
    u.over.setPointerCapture(event.pointerId);
    pick(event);
  };
  const move = (event: PointerEvent) => event.buttons > 0 && pick(event);
  u.over.addEventListener("pointerdown", down);
  u.over.addEventListener("pointermove", move);
  return () => {
    u.over.removeEventListener("pointerdown", down);
    u.over.removeEventListener("pointermove", move);
  };
}
