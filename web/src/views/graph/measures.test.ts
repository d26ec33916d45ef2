import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Measures } from "../../api/types";
import { figure, share, times } from "./figures";
import { MeasureStore } from "./measures";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function of(at: number, id: number[], seconds: number): Measures {
  const same = (value: number | null) => id.map(() => value) as number[];
  return {
    tick: at, at, id, input_rate: same(10), output_rate: id.map((each) => each), selectivity: same(null), rows_in: same(1), rows_out: same(1),
    state_rows: same(5), state_bytes: same(50), seconds: same(seconds), watermark: same(null), window: same(null), granularity: same(null),
  };
}

test("readers are told once per frame, whatever comes", () => {
  const store = new MeasureStore();
  const reader = vi.fn();
  const stop = store.read(reader);
  for (let tick = 1; tick <= 20; tick++) store.take(of(tick, [1, 2, 3], 0));
  expect(reader).not.toHaveBeenCalled();
  vi.advanceTimersToNextFrame();
  expect(reader).toHaveBeenCalledTimes(1);
  stop();
  store.take(of(30, [1], 0));
  vi.advanceTimersToNextFrame();
  expect(reader).toHaveBeenCalledTimes(1);
});

test("numbers are kept by part; what is unknown is no number", () => {
  const store = new MeasureStore();
  store.take(of(1000, [7, 9], 1));
  store.take(of(2000, [7, 9], 1.25));
  expect([store.get(9, "output_rate"), store.get(7, "busy")]).toEqual([9, 0.25]);
  expect([store.get(7, "selectivity"), store.get(8, "rows_in")]).toEqual([NaN, NaN]);
});

test("room of parts that are gone is used again, and there is always enough", () => {
  const store = new MeasureStore();
  const ids = Array.from({ length: 500 }, (_, n) => n);
  store.take(of(1, ids, 0));
  expect(store.get(499, "output_rate")).toBe(499);
  store.keep(new Set([3]));
  expect([store.get(3, "output_rate"), store.get(4, "output_rate")]).toEqual([3, NaN]);
  store.take(of(2, [3, 1000], 0));
  expect([store.get(3, "output_rate"), store.get(1000, "output_rate"), store.get(1000, "busy")]).toEqual([3, 1000, NaN]);
});

test("figures on a part have five characters at most", () => {
  const values = [0, 0.001, 0.5, 9.994, 9.996, 99.94, 99.96, 999.4, 999.6, 1234, 999_949, 1e6, 3.2e10, NaN];
  expect(values.map(figure)).toEqual(["0", "<0.01", "0.50", "9.99", "10.0", "99.9", "100", "999", "1.00k", "1.23k", "1.00M", "1.00M", "32.0G", "–"]);
  expect([0, 0.0004, 0.0123, 0.0999, 0.42, 1.5].map(share)).toEqual(["0%", "<0.1%", "1.2%", "10%", "42%", "150%"]);
  expect([0.25, 12, NaN].map(times)).toEqual(["×0.25", "×12.0", "–"]);
  for (const value of values) expect(figure(value).length).toBeLessThanOrEqual(5);
});
