import type { Kind } from "./names";

const PATHS: Record<Kind, string> = {
  source: "M2 5c2-2 4-2 6 0s4 2 6 0M2 11c2-2 4-2 6 0s4 2 6 0",
  window: "M5 3H3v10h2M11 3h2v10h-2M6 8h4",
  row: "M2 3h12l-4.5 5.5V13l-3-1.5v-3z",
  join: "M6 4a4 4 0 1 0 0 8a4 4 0 1 0 0-8M10 4a4 4 0 1 0 0 8a4 4 0 1 0 0-8",
  group: "M12 4V3H4l4.5 5L4 13h8v-1",
  set: "M3 3v3c0 3 5 2 5 5v2M13 3v3c0 3-5 2-5 5",
  order: "M3 4h10M3 8h7M3 12h4",
  hand_over: "M2 5h9l-3-3M14 11H5l3 3",
};

/** The sign of a family of operators. */
export function Icon({ kind }: { kind: Kind }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden>
      <path d={PATHS[kind]} fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
