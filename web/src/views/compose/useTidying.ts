import { useReactFlow, type ReactFlowInstance } from "@xyflow/react";
import { useCallback, useEffect, useRef, type Dispatch } from "react";
import type { Action } from "./model/composer";
import { arrange, type Sizes } from "./model/layout";
import { OPENED } from "./useOpening";

const DRAWN_MS = 60;

/** Arranging, fitting, and both by themselves when a plan was loaded and checked. */
export function useTidying(dispatch: Dispatch<Action>, isChecked: boolean) {
  const flow = useReactFlow();
  const wanted = useRef<"nothing" | "fit" | "tidy">("nothing");
  const fit = useCallback(() => {
    // What is new must be drawn and measured first; an empty canvas stays where it is.
    setTimeout(() => {
      if (flow.getNodes().length > 0) void flow.fitView({ padding: 0.1, maxZoom: 1, duration: isCalm() ? 0 : 200 });
    }, DRAWN_MS);
  }, [flow]);
  const tidy = useCallback(
    (topic?: string) => {
      dispatch({ type: "edit", change: (now) => arrange(now, sizesOf(flow)), topic });
      fit();
    },
    [dispatch, flow, fit],
  );
  const loaded = useCallback(() => {
    wanted.current = "tidy";
    fit();
  }, [fit]);
  /** Shows what was added, at once and as it is when it was checked. */
  const added = useCallback(() => {
    wanted.current = "fit";
    fit();
  }, [fit]);
  useEffect(() => {
    if (!isChecked || wanted.current === "nothing") return;
    const timer = setTimeout(() => {
      if (wanted.current === "tidy") tidy(OPENED);
      else fit();
      wanted.current = "nothing";
    }, DRAWN_MS);
    return () => clearTimeout(timer);
  }, [isChecked, tidy, fit]);
  return { fit, tidy, loaded, added, sizes: () => sizesOf(flow) };
}

const isCalm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;

function sizesOf(flow: ReactFlowInstance): Sizes {
  const measured = flow.getNodes().flatMap(({ id, measured: size }) =>
    size?.width && size.height ? [[id, { width: size.width, height: size.height }] as const] : [],
  );
  return Object.fromEntries(measured);
}
