import { useEffect } from "react";

/** Hear when colours become others. Returns how to stop that. */
export function onRecolour(action: () => void): () => void {
  const themed = new MutationObserver(action);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  themed.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  dark.addEventListener("change", action);
  return () => {
    themed.disconnect();
    dark.removeEventListener("change", action);
  };
}

/** Draws now, when colours become others, and when what it depends on does. */
export function useRecolour(draw: () => void, on: unknown[]): void {
  useEffect(() => {
    draw();
    return onRecolour(draw);
  }, on);
}
