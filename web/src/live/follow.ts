import { useCallback, useEffect, useRef } from "react";

/** A way to hear when a value becomes another one, for those who draw without rendering. */
export function useFollow(value: unknown): (changed: () => void) => () => void {
  const listeners = useRef(new Set<() => void>());
  useEffect(() => listeners.current.forEach((each) => each()), [value]);
  return useCallback((changed) => {
    listeners.current.add(changed);
    return () => listeners.current.delete(changed);
  }, []);
}
