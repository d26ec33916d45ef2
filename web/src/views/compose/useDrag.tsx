import { useEffect, useState, type PointerEvent as ReactPointerEvent, type RefObject } from "react";
import type { Operator, Settings } from "./model/contract";

/** Something of the palette: an operator, perhaps set up already. */
export interface Offer {
  operator: Operator;
  title: string;
  settings?: Settings;
}

interface Dragged {
  offer: Offer;
  from: { x: number; y: number };
  at: { x: number; y: number };
}

const FAR = 5;

/**
 * Dragging from the palette with a mouse or a pen. A finger scrolls the palette instead and taps
 * to add.
 */
export function useDrag(canvas: RefObject<HTMLElement | null>, drop: (offer: Offer, x: number, y: number) => void) {
  const [dragged, setDragged] = useState<Dragged | null>(null);
  const isDragging = dragged !== null;
  useEffect(() => {
    if (!dragged) return;
    const moved = (event: PointerEvent) => setDragged({ ...dragged, at: { x: event.clientX, y: event.clientY } });
    const ended = (event: PointerEvent) => {
      setDragged(null);
      if (isFar(dragged) && isOver(canvas.current, event)) drop(dragged.offer, event.clientX, event.clientY);
    };
    const left = (event: KeyboardEvent) => event.key === "Escape" && setDragged(null);
    addEventListener("pointermove", moved);
    addEventListener("pointerup", ended);
    addEventListener("keydown", left);
    return () => {
      removeEventListener("pointermove", moved);
      removeEventListener("pointerup", ended);
      removeEventListener("keydown", left);
    };
  }, [dragged, canvas, drop]);
  const start = (event: ReactPointerEvent, offer: Offer) => {
    if (event.pointerType === "touch" || event.button !== 0) return;
    const at = { x: event.clientX, y: event.clientY };
    setDragged({ offer, from: at, at });
  };
  return { start, dragged: isDragging && isFar(dragged) ? dragged : null };
}

const isFar = ({ from, at }: Dragged): boolean => Math.hypot(at.x - from.x, at.y - from.y) > FAR;

function isOver(element: HTMLElement | null, { clientX, clientY }: PointerEvent): boolean {
  const box = element?.getBoundingClientRect();
  return Boolean(box && clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom);
}
