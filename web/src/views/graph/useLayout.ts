import { useCallback, useEffect, useRef, useState } from "react";
import type { Item, Places } from "./layout";
import type { Wanted } from "./layout.worker";

interface Laid {
  /** Which picture this is the layout of; each keeps its own places. */
  picture: string;
  places: Places;
}

/** Where everything is (heirs where those were that they come instead of), found in a worker so that the page never waits for it. */
export function useLayout(picture: string, items: Item[], heirs: Map<string, string>): { laid: Laid | null; tidy: () => void } {
  const [laid, setLaid] = useState<Laid | null>(null);
  const known = useRef(new Map<string, Places>());
  const worker = useRef<Worker | null>(null);
  const asked = useRef(0);
  const ask = useCallback(
    (before: Places | null) => {
      const number = ++asked.current;
      worker.current!.onmessage = ({ data }: MessageEvent<{ number: number; places: Places }>) => {
        if (data.number !== asked.current) return;
        known.current.set(picture, data.places);
        setLaid({ picture, places: data.places });
      };
      worker.current!.postMessage({ number, items, known: before } satisfies Wanted);
    },
    [picture, items],
  );
  useEffect(() => {
    worker.current = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    return () => worker.current?.terminate();
  }, []);
  useEffect(() => {
    const places = { ...known.current.get(picture) };
    for (const [heir, gone] of heirs) if (places[gone]) places[heir] ??= places[gone];
    ask(places);
  }, [ask, picture, heirs]);
  return { laid, tidy: useCallback(() => ask(null), [ask]) };
}
