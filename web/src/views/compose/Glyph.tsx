import type { Operator } from "./model/contract";

// The signs of relational algebra, where it has one.
const SIGNS: Record<string, string> = {
  scan: "⇣", source: "⇣", versions: "⇶", filter: "σ", project: "π", unnest: "μ", distinct: "δ", aggregate: "γ", over_rows: "≬", top: "↑",
  time_window: "ω", now_window: "·", unbounded_window: "∞", count_window: "#", partitioned_window: "⋮",
  granularity: "⌈",
  join: "⋈", outer_join: "⊶", semi_join: "⋉", anti_join: "▷",
  union: "∪", difference: "−", strict_difference: "∖", intersection: "∩", max_union: "⊔",
  istream: "+", dstream: "‒", rstream: "≡",
  split: "÷", coalesce: "≈", merge: "⋎", snapshot: "◉", row_number: "№", lookup: "⌕",
};

/** The sign of an operator on the colour of its group. */
export function Glyph({ operator }: { operator: Operator | null }) {
  const kind = operator?.kind ?? "";
  const group = operator?.group.toLowerCase().replaceAll(/[^a-z]+/g, "-") ?? "unknown";
  return (
    <span className={`glyph of-${group}`} aria-hidden>
      {SIGNS[kind] ?? (kind.charAt(0).toUpperCase() || "?")}
    </span>
  );
}
