import { Icon } from "./Icon";
import type { Kind } from "./names";

const WORDS: [Kind, string][] = [
  ["source", "source"],
  ["window", "window"],
  ["row", "row by row"],
  ["join", "join"],
  ["group", "aggregate"],
  ["set", "set"],
  ["order", "order"],
];

/** What colours, signs and lines mean. */
export function Legend() {
  return (
    <details className="legend">
      <summary>Legend</summary>
      <ul>
        {WORDS.map(([kind, words]) => (
          <li key={kind} className={kind}>
            <span className="part-icon">
              <Icon kind={kind} />
            </span>
            {words}
          </li>
        ))}
        <li>
          <span className="sample shared" /> shared by queries
        </li>
        <li>
          <span className="sample line" /> more rows, wider line
        </li>
      </ul>
    </details>
  );
}
