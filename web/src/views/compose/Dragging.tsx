import { Glyph } from "./Glyph";
import type { Dragged } from "./useDrag";

/** What is on its way from the palette to the canvas. */
export function Dragging({ offer, at }: Dragged) {
  return (
    <div className="ghost-op" style={{ left: at.x, top: at.y }} aria-hidden>
      <Glyph operator={offer.operator} /> {offer.title}
    </div>
  );
}
