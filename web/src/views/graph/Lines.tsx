import { useStoreApi } from "@xyflow/react";
import { memo, useContext, useEffect, useRef } from "react";
import { oncePerFrame } from "../../parts/frame";
import { onRecolour } from "../../parts/theme";
import type { Box } from "./boxes";
import { LinePainter } from "./painter";
import type { Line } from "./routing";
import { measures } from "./measures";
import { LookedAt } from "./Part";
import { spot } from "./spot";

/** So many items may have dashes that move; more would cost what the numbers need. */
const MOST_MOVING = 200;

/** The lines of the graph, on one canvas below its parts. */
export const Lines = memo(function Lines({ lines, boxes }: { lines: Line[]; boxes: Box[] }) {
  const dots = useContext(LookedAt) === "dots";
  const shown = useRef({ dots, ask: () => {} });
  shown.current.dots = dots;
  useEffect(() => shown.current.ask(), [dots]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const flow = useStoreApi();
  useEffect(() => {
    const element = canvas.current!;
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    const painter = new LinePainter(element, lines, boxes, () => shown.current.dots);
    const frame = oncePerFrame((now) => {
      const moving = boxes.length < MOST_MOVING && !still.matches;
      if (painter.paint(flow.getState().transform, now, moving)) frame.ask();
    });
    const resized = new ResizeObserver(() => (painter.resize(), frame.ask()));
    resized.observe(element.parentElement!);
    const off = [
      flow.subscribe(frame.ask),
      measures.read(frame.ask),
      spot.watch(frame.ask),
      onRecolour(() => (painter.readColours(), frame.ask())),
    ];
    shown.current.ask = frame.ask;
    frame.ask();
    return () => {
      off.forEach((each) => each());
      frame.cancel();
      resized.disconnect();
    };
  }, [lines, boxes, flow]);
  return <canvas ref={canvas} className="lines" aria-hidden />;
});
