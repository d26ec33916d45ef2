import { useState, type PointerEvent as ReactPointerEvent, type RefObject } from "react";
import type { Operator, Settings } from "./model/contract";

/** Something of the palette: an operator, perhaps set up already. */
export interface Offer {
  operator: Operator;
  title: string;
  settings?: Settings;
}

export interface Dragged {
  offer: Offer;
  at: Point;
}

interface Point {
  x: number;
  y: number;
}

const FAR = 5;

/**
 * Dragging from the palette with a mouse or a pen. A finger scrolls the palette instead and taps
 * to add.
 */
export function useDrag(canvas: RefObject<HTMLElement | null>, drop: (offer: Offer, x: number, y: number) => void) {
  const [dragged, setDragged] = useState<Dragged | null>(null);
  const start = (event: ReactPointerEvent, offer: Offer) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    const from = pointOf(event);
    const until = new AbortController();
    const stop = () => {
      until.abort();
      setDragged(null);
    };
    // Listened to at once, not with the next drawing: a quick hand is faster than that.
    const listen = { signal: until.signal };
    addEventListener("pointermove", (next) => isFar(from, next) && setDragged({ offer, at: pointOf(next) }), listen);
    addEventListener("keydown", (next) => next.key === "Escape" && stop(), listen);
    addEventListener("pointercancel", stop, listen);
    addEventListener(
      "pointerup",
      (last) => {
        stop();
        if (isFar(from, last) && isOver(canvas.current, last)) drop(offer, last.clientX, last.clientY);
      },
      listen,
    );
  };
  return { start, dragged };
}

const pointOf = (event: { clientX: number; clientY: number }): Point => ({ x: event.clientX, y: event.clientY });

const isFar = (from: Point, { clientX, clientY }: PointerEvent): boolean =>
  Math.hypot(clientX - from.x, clientY - from.y) > FAR;

function isOver(element: HTMLElement | null, { clientX, clientY }: PointerEvent): boolean {
  const box = element?.getBoundingClientRect();
  return Boolean(box && clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom);
}
