/** Numbers on a part of the graph: five characters at most, so that nothing ever moves. */
export function figure(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (value === 0) return "0";
  if (value < 0.01) return "<0.01";
  for (const [unit, sign] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]] as const)
    if (value >= 0.9995 * unit) return `${digits(value / unit)}${sign}`;
  return digits(value);
}

function digits(value: number): string {
  if (value >= 99.95) return value.toFixed(0);
  return value >= 9.995 ? value.toFixed(1) : value.toFixed(2);
}

/** A share of time: five characters at most. */
export function share(value: number): string {
  if (Number.isNaN(value)) return "–";
  const percent = 100 * value;
  if (percent === 0) return "0%";
  if (percent < 0.1) return "<0.1%";
  return percent >= 9.95 ? `${Math.min(percent, 9999).toFixed(0)}%` : `${percent.toFixed(1)}%`;
}

/** How many rows come out for one that comes in. */
export const times = (value: number): string => (Number.isNaN(value) ? "–" : `×${figure(value)}`);
