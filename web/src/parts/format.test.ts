import { expect, test } from "vitest";
import { bytes, duration, instant, percent, short } from "./format";

test("numbers are short", () => {
  expect([0, 7.126, 999, 1234, 1234567, null].map(short)).toEqual(["0", "7.13", "999", "1.23k", "1.23M", "–"]);
  expect(bytes(2048)).toBe("2.05kB");
  expect(percent(0.125)).toBe("12.5%");
});

test("time is told as people tell it", () => {
  expect(instant(1_000_000, "microseconds")).toBe("1970-01-01 00:00:01");
  expect(instant(12_345, "ticks")).toBe("12,345");
  expect(instant(null, "ticks")).toBe("∞");
  expect([duration(90e6, "microseconds"), duration(5000, "microseconds")]).toEqual(["1.5 min", "5 ms"]);
});
