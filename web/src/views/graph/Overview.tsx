import { useReactFlow, useStoreApi } from "@xyflow/react";
import { memo, useEffect, useRef } from "react";
import { oncePerFrame } from "../../parts/frame";
import { useRecolour } from "../../parts/theme";
import { boundsOf, HEIGHT, PITCH, WIDTH, type Places } from "./layout";
import { kindOf } from "./names";
import type { Drawn } from "./picture";

const SIZE = { width: 176, height: 112 };
const MARGIN = 8;

/** The whole graph in a corner, drawn once; the frame in it shows what is in sight, and can be dragged. */
export const Overview = memo(function Overview({ drawn, places }: { drawn: Drawn[]; places: Places }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const sight = useRef<HTMLDivElement>(null);
  const flow = useStoreApi();
  const { setCenter } = useReactFlow();
  const scale = scaleOf(places);
  useRecolour(() => paint(canvas.current!, drawn, places), [drawn, places]);
  useEffect(() => {
    const move = oncePerFrame(() => {
      const { transform, width, height } = flow.getState();
      frame(sight.current!, transform, width, height, scaleOf(places));
    });
    move.ask();
    const off = flow.subscribe(move.ask);
    return () => (off(), move.cancel());
  }, [flow, places]);
  const go = (event: React.PointerEvent) => {
    if (event.buttons === 0) return;
    const box = canvas.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left - scale.x, event.clientY - box.top - scale.y];
    void setCenter(x / scale.factor, y / scale.factor, { zoom: flow.getState().transform[2] });
  };
  return (
    <div
      className="overview nopan nowheel"
      aria-hidden
      onPointerDown={(event) => (event.currentTarget.setPointerCapture(event.pointerId), go(event))}
      onPointerMove={go}
    >
      <canvas ref={canvas} style={SIZE} />
      <div ref={sight} className="sight" />
    </div>
  );
});

interface Scale {
  factor: number;
  x: number;
  y: number;
}

function scaleOf(places: Places): Scale {
  const { left, right, bottom } = boundsOf(places);
  const [width, height] = [SIZE.width - 2 * MARGIN, SIZE.height - 2 * MARGIN];
  const factor = Math.min(width / (right - left), height / bottom, 0.1);
  return {
    factor,
    x: MARGIN + (width - factor * (right - left)) / 2 - factor * left,
    y: MARGIN + (height - factor * bottom) / 2,
  };
}

function paint(canvas: HTMLCanvasElement, drawn: Drawn[], places: Places): void {
  canvas.width = SIZE.width * devicePixelRatio;
  canvas.height = SIZE.height * devicePixelRatio;
  const [context, style] = [canvas.getContext("2d")!, getComputedStyle(canvas)];
  const { factor, x, y } = scaleOf(places);
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  for (const each of drawn) {
    const place = places[each.id];
    if (!place) continue;
    const [name, tall] = each.type === "part" ? [`--kind-${kindOf(each.node.operator)}`, HEIGHT] : ["--accent", HEIGHT / 3];
    context.fillStyle = style.getPropertyValue(name);
    const left = x + factor * (place.x - WIDTH / 2);
    context.fillRect(left, y + factor * place.row * PITCH, Math.max(1, factor * WIDTH), Math.max(1, factor * tall));
  }
}

function frame(sight: HTMLElement, [tx, ty, zoom]: readonly number[], width: number, height: number, scale: Scale): void {
  const factor = scale.factor / zoom!;
  const [left, top] = [scale.x - tx! * factor, scale.y - ty! * factor];
  sight.style.transform = `translate(${left}px, ${top}px) scale(${(width * factor) / 100}, ${(height * factor) / 100})`;
}
