import { useStore, useStoreApi } from "@xyflow/react";
import { useCallback, useEffect, useRef, useState, type RefObject } from "react";
import { distanceOf, isFurther, type Distance } from "./sight";

interface Moves {
  distance: Distance;
  moveStarts: () => void;
  moveEnds: () => void;
}

/**
 * From where the graph is looked at. Going away, less is shown at once; coming closer, more is shown
 * when the movement ends: there is nothing to read on the way.
 */
export function useDistance(frame: RefObject<HTMLDivElement | null>): Moves {
  const flow = useStoreApi();
  const wanted = useStore((state) => distanceOf(state.transform[2]));
  const [distance, setDistance] = useState(wanted);
  const moving = useRef(false);
  useEffect(() => setDistance((now) => (moving.current && !isFurther(wanted, now) ? now : wanted)), [wanted]);
  const turn = useCallback(
    (isMoving: boolean) => {
      moving.current = isMoving;
      frame.current!.classList.toggle("moving", isMoving);
      if (!isMoving) setDistance(distanceOf(flow.getState().transform[2]));
    },
    [flow, frame],
  );
  return { distance, moveStarts: useCallback(() => turn(true), [turn]), moveEnds: useCallback(() => turn(false), [turn]) };
}
