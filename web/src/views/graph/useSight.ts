import { useReactFlow } from "@xyflow/react";
import { useCallback, useEffect, useRef, type RefObject } from "react";
import { HEIGHT, PITCH, type Places } from "./layout";
import type { Drawn } from "./picture";
import { distanceOf, firstSight, freeRoom, whole } from "./sight";

type Frame = RefObject<HTMLDivElement | null>;

/** Looks at every new picture once; returns how to look at all of it. */
export function useSight(frame: Frame, picture: string, drawn: Drawn[], places: Places): () => void {
  const { setViewport } = useReactFlow();
  const newest = useRef({ drawn, places });
  newest.current = { drawn, places };
  useEffect(() => {
    const { width, height } = frame.current!.getBoundingClientRect();
    void setViewport(firstSight(newest.current.drawn, newest.current.places, width, height));
  }, [frame, picture, setViewport]);
  return useCallback(() => {
    const { width, height } = frame.current!.getBoundingClientRect();
    void setViewport(whole(newest.current.places, width, height));
  }, [frame, setViewport]);
}

/** Brings something into sight and gives it the keyboard; what is opened is not left under the panel. */
export function useGoTo(frame: Frame, places: Places, open: string | null): (id: string | null) => void {
  const { setViewport, getViewport } = useReactFlow();
  const show = useCallback(
    (id: string, panel: boolean, least: number) => {
      const { x, row } = places[id]!;
      const now = getViewport();
      const zoom = Math.max(now.zoom, least);
      const room = freeRoom(frame.current!.getBoundingClientRect(), panel);
      const [atX, atY] = [x * now.zoom + now.x, (row * PITCH + HEIGHT / 2) * now.zoom + now.y];
      const inside = atX > 90 && atX < room.width - 90 && atY > 50 && atY < room.height - 50;
      if (inside && zoom === now.zoom) return;
      void setViewport({ x: room.width / 2 - x * zoom, y: room.height / 2 - (row * PITCH + HEIGHT / 2) * zoom, zoom });
    },
    [frame, places, getViewport, setViewport],
  );
  useEffect(() => {
    if (open !== null && places[open]) show(open, true, 0);
  }, [open, places, show]);
  return useCallback(
    (id) => {
      if (id === null || !places[id]) return;
      show(id, open !== null, distanceOf(getViewport().zoom) === "dots" ? 0.9 : 0);
      focusSoon(frame.current!, id, 30);
    },
    [frame, places, show, open, getViewport],
  );
}

/** What was out of sight is there some frames later. */
function focusSoon(frame: HTMLElement, id: string, tries: number): void {
  const element = frame.querySelector<HTMLElement>(`[data-item="${CSS.escape(id)}"]`);
  if (element) element.focus({ preventScroll: true });
  else if (tries > 0) requestAnimationFrame(() => focusSoon(frame, id, tries - 1));
}
