import { useStoreApi } from "@xyflow/react";
import { useEffect, useRef } from "react";
import { oncePerFrame } from "../../parts/frame";
import { LinePainter } from "./painter";
import type { Line } from "./routing";
import { measures } from "./measures";
import { spot } from "./spot";

/** So many items may have dashes that move; more would cost what the numbers need. */
const MOST_MOVING = 200;

/** The lines of the graph, on one canvas below its parts. */
export function Lines({ lines, items }: { lines: Line[]; items: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const flow = useStoreApi();
  useEffect(() => {
    const element = canvas.current!;
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    const painter = new LinePainter(element, lines);
    const frame = oncePerFrame((now) => {
      const moving = items < MOST_MOVING && !still.matches;
      if (painter.paint(flow.getState().transform, now, moving)) frame.ask();
    });
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => (painter.readColours(), frame.ask());
    const resized = new ResizeObserver(() => (painter.resize(), frame.ask()));
    const themed = new MutationObserver(recolour);
    resized.observe(element);
    themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    dark.addEventListener("change", recolour);
    const off = [flow.subscribe(frame.ask), measures.read(frame.ask), spot.watch(frame.ask)];
    frame.ask();
    return () => {
      off.forEach((each) => each());
      frame.cancel();
      resized.disconnect();
      themed.disconnect();
      dark.removeEventListener("change", recolour);
    };
  }, [lines, items, flow]);
  return <canvas ref={canvas} className="lines" aria-hidden />;
}
