import { get } from "../../api/client";
import type { NodeHistory } from "../../api/types";
import { measures, type Field } from "./measures";

const MOST = 600;
export const KEPT: readonly Field[] = ["input_rate", "output_rate", "state_rows", "busy"];

/** What a part did: first as the server remembers it, then as it goes on. */
export class History {
  /** Seconds since 1970. */
  at: number[] = [];
  readonly columns = Object.fromEntries(KEPT.map((name) => [name, []])) as unknown as Record<Field, (number | null)[]>;
  private readonly listeners = new Set<() => void>();

  constructor(private readonly id: number) {}

  /** Begins to remember; returns how to stop that. */
  follow(): () => void {
    const stop = new AbortController();
    get<NodeHistory>(`graph/nodes/${this.id}/history`, stop.signal)
      .then((found) => this.begin(found))
      .catch(() => undefined); // it may have gone; what comes live is shown anyway
    const off = measures.read(() => this.add());
    return () => {
      stop.abort();
      off();
    };
  }

  watch = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private begin(found: NodeHistory): void {
    const newest = this.at[0] ?? Infinity;
    const until = found.at.filter((each) => each / 1000 < newest).length;
    const seconds = found.seconds ?? [];
    const busy = found.at.map((each, index) => perTime(seconds, found.at, index, each));
    this.at.unshift(...found.at.slice(0, until).map((each) => each / 1000));
    for (const name of KEPT)
      this.columns[name].unshift(...(name === "busy" ? busy : (found[name] ?? found.at.map(() => null))).slice(0, until));
    this.told();
  }

  private add(): void {
    const now = measures.at / 1000;
    if (now <= (this.at.at(-1) ?? 0)) return;
    this.at.push(now);
    for (const name of KEPT) this.columns[name].push(orNull(measures.get(this.id, name)));
    if (this.at.length > MOST) [this.at, ...Object.values(this.columns)].forEach((each) => each.shift());
    this.told();
  }

  private told(): void {
    this.listeners.forEach((each) => each());
  }
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value);

function perTime(seconds: (number | null)[], at: number[], index: number, now: number): number | null {
  const [before, after] = [seconds[index - 1], seconds[index]];
  if (before == null || after == null || after < before) return null;
  return (after - before) / Math.max((now - at[index - 1]!) / 1000, 1e-3);
}
