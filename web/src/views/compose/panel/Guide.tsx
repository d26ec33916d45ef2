const KEYS: [string, string][] = [
  ["Enter", "in the palette adds, on the canvas selects"],
  ["Arrows", "move the selection"],
  ["Delete", "delete"],
  ["Ctrl D", "duplicate"],
  ["Ctrl Z", "undo"],
];

/** What can be done while nothing is selected. */
export function Guide() {
  return (
    <div className="guide">
      <h2>How it works</h2>
      <ol>
        <li>Put a stream on the canvas, and say with a window for how long its rows count.</li>
        <li>Draw lines from the lower edge of one operator to the upper edge of the next.</li>
        <li>Select an operator to set it up. A green line fits; a red one says what does not.</li>
        <li>Give the plan a name, and run it.</li>
      </ol>
      <dl>
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
