import type { Measures } from "../../api/types";
import { oncePerFrame } from "../../parts/frame";

/** What is known of each part, as numbers; NaN where there is none. `busy` is time per time. */
export const FIELDS = [
  "input_rate",
  "output_rate",
  "selectivity",
  "rows_in",
  "rows_out",
  "state_rows",
  "state_bytes",
  "seconds",
  "watermark",
  "window",
  "granularity",
] as const;
export type Field = (typeof FIELDS)[number] | "busy";

const FEWEST = 64;

/**
 * The newest measures of all parts, outside React: a thousand of them in a second must not render
 * anything. Whoever shows numbers is told once per frame, and only if there is something new.
 */
export class MeasureStore {
  at = 0;
  tick = 0;
  private readonly slots = new Map<number, number>();
  private columns: Record<Field, Float64Array> = columnsOf(FEWEST);
  private readonly readers = new Set<() => void>();
  private readonly frame = oncePerFrame(() => this.readers.forEach((each) => each()));

  /** Takes what the server says. */
  take(measures: Measures): void {
    const seconds = (measures.at - this.at) / 1000;
    measures.id.forEach((id, index) => this.put(this.slot(id), measures, index, seconds));
    this.at = measures.at;
    this.tick = measures.tick;
    this.frame.ask();
  }

  /** Forgets parts that are no more. */
  keep(ids: ReadonlySet<number>): void {
    for (const id of this.slots.keys()) if (!ids.has(id)) this.forget(id);
  }

  /** A measure of a part; NaN if there is none. */
  get(id: number, field: Field): number {
    const slot = this.slots.get(id);
    return slot === undefined ? NaN : this.columns[field][slot]!;
  }

  /** Hear of new measures, once per frame at most. Returns how to stop that. */
  read(reader: () => void): () => void {
    this.readers.add(reader);
    return () => this.readers.delete(reader);
  }

  private put(slot: number, measures: Measures, index: number, seconds: number): void {
    const before = this.columns.seconds[slot]!;
    for (const field of FIELDS) this.columns[field][slot] = measures[field][index] ?? NaN;
    // The graph may begin again, and then its seconds do; two looks at one tick say nothing new.
    const spent = this.columns.seconds[slot]! - before;
    if (seconds > 0) this.columns.busy[slot] = spent >= 0 ? spent / seconds : NaN;
  }

  private slot(id: number): number {
    let slot = this.slots.get(id);
    if (slot === undefined) {
      slot = this.free.pop() ?? this.slots.size;
      if (slot >= this.columns.busy.length) this.grow();
      for (const column of Object.values(this.columns)) column[slot] = NaN;
      this.slots.set(id, slot);
    }
    return slot;
  }

  private readonly free: number[] = [];

  private forget(id: number): void {
    this.free.push(this.slots.get(id)!);
    this.slots.delete(id);
  }

  private grow(): void {
    const larger = columnsOf(2 * this.columns.busy.length);
    for (const field of Object.keys(larger) as Field[]) larger[field].set(this.columns[field]);
    this.columns = larger;
  }
}

function columnsOf(size: number): Record<Field, Float64Array> {
  const names: Field[] = [...FIELDS, "busy"];
  return Object.fromEntries(names.map((name) => [name, new Float64Array(size)])) as Record<Field, Float64Array>;
}

export const measures = new MeasureStore();
