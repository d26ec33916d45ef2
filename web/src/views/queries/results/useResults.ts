import { useEffect, useRef, useState } from "react";
import type { NewResults, Problem } from "../../../api/types";
import { live } from "../../../live/socket";
import { added, NOTHING, type Known } from "./intervals";

interface Heard {
  known: Known;
  problem: Problem | null;
}

const SILENCE: Heard = { known: NOTHING, problem: null };

/** What is known of a query's results. While paused, more is heard but not shown. */
export function useResults(name: string, paused: boolean): Heard {
  const [shown, setShown] = useState(SILENCE);
  const heard = useRef(SILENCE);
  const still = useRef(paused);
  useEffect(() => {
    still.current = paused;
    if (!paused) setShown(heard.current);
  }, [paused]);
  useEffect(() => {
    heard.current = SILENCE;
    setShown(SILENCE);
    return live.subscribe(`results:${name}`, (data) => {
      heard.current = after(heard.current, data as NewResults | { error: Problem });
      if (!still.current) setShown(heard.current);
    });
  }, [name]);
  return shown;
}

function after(heard: Heard, news: NewResults | { error: Problem }): Heard {
  if ("error" in news) return { ...heard, problem: news.error };
  return { known: added(news.reset ? NOTHING : heard.known, news), problem: null };
}
