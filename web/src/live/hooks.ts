import { useEffect, useState, useSyncExternalStore } from "react";
import { get, Refused } from "../api/client";
import type { Problem } from "../api/types";
import { live, type Connection } from "./socket";

/** Whether the page hears the server. */
export function useConnection(): Connection {
  return useSyncExternalStore(
    (changed) => live.watch(changed),
    () => live.state,
  );
}

export interface Loaded<T> {
  data: T | null;
  problem: Problem | null;
}

/** What is at an address now, and then what a topic says of it. */
export function useLive<T>(topic: string, path: string): Loaded<T> & { reload: () => void } {
  const [loaded, setLoaded] = useState<Loaded<T>>({ data: null, problem: null });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    get<T>(path, stop.signal)
      .then((data) => setLoaded({ data, problem: null }))
      .catch((error) => {
        if (error instanceof Refused) setLoaded((old) => ({ data: old.data, problem: error.problem }));
      });
    const off = live.subscribe(topic, (data) => setLoaded({ data: data as T, problem: null }));
    return () => {
      stop.abort();
      off();
    };
  }, [topic, path, round]);
  return { ...loaded, reload: () => setRound((n) => n + 1) };
}
