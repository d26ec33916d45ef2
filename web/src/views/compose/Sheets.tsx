const TITLES = { add: "Add", set: "Settings", see: "SQL" };
export type Sheet = keyof typeof TITLES;

/** On a phone: what lies over the canvas. */
export function Sheets({ open, show }: { open: Sheet | null; show: (sheet: Sheet | null) => void }) {
  return (
    <nav className="sheets" aria-label="Sheets">
      {(Object.keys(TITLES) as Sheet[]).map((each) => (
        <button key={each} aria-expanded={open === each} onClick={() => show(open === each ? null : each)}>
          {TITLES[each]}
        </button>
      ))}
    </nav>
  );
}
