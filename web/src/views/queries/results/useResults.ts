import { useEffect, useRef, useState } from "react";
import { get, part } from "../../../api/client";
import type { NewResults, Problem, Table } from "../../../api/types";
import { live } from "../../../live/socket";
import { added, MOST, NOTHING, type Known } from "./intervals";

interface Heard {
  known: Known;
  problem: Problem | null;
}

type News = NewResults | { error: Problem };

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
    const listener = new Listener(name, (all) => {
      heard.current = all;
      if (!still.current) setShown(all);
    });
    setShown(SILENCE);
    const off = live.subscribe(`results:${name}`, (data) => listener.take(data as News));
    return () => {
      off();
      listener.stop.abort();
    };
  }, [name]);
  return shown;
}

/** Follows what the socket says; of a long past, which it cuts short, the rest is asked for once. */
class Listener {
  readonly stop = new AbortController();
  private heard = SILENCE;
  private first = true;
  /** What came while the past was asked for. */
  private waiting: News[] | null = null;

  constructor(
    private readonly name: string,
    private readonly tell: (heard: Heard) => void,
  ) {}

  take(news: News): void {
    this.waiting?.push(news);
    this.heard = after(this.heard, news);
    this.tell(this.heard);
    if (this.first && !("error" in news) && news.truncated) void this.askForPast(news);
    this.first = "error" in news;
  }

  private async askForPast(news: NewResults): Promise<void> {
    this.waiting = [news];
    const from = pastOf(news);
    try {
      const past = await get<Table>(`queries/${part(this.name)}/results?from=${from}&limit=${MOST}`, this.stop.signal);
      const known = { ...added(NOTHING, past), wholeFrom: past.truncated ? Infinity : from };
      this.heard = this.waiting
        .map((each) => ({ ...each, reset: false, truncated: false }))
        .reduce(after, { known, problem: null });
      this.tell(this.heard);
    } catch {
      // The newest rows are there; without the others there is less to see.
    }
    this.waiting = null;
  }
}

/** So far back that there are about as many rows as are drawn. */
function pastOf({ valid_from, complete_until, rows }: NewResults): number {
  const first = valid_from[0] ?? 0;
  const last = complete_until ?? valid_from.at(-1) ?? first;
  return Math.max(0, Math.floor(last - ((last - first) * MOST * 0.6) / Math.max(rows.length, 1)));
}

function after(heard: Heard, news: News): Heard {
  if ("error" in news) return { ...heard, problem: news.error };
  return { known: added(news.reset ? NOTHING : heard.known, news), problem: null };
}
