import type { Domain, Resources } from "../../api/types";
import { sizeWords } from "./lanes";
import { linkTo } from "../../shell/routes";
import type { Queries } from "../../live/useQueries";

type Knob = Resources["knobs"][number];

/** Sizes that may be changed, each between its bounds. */
export function Knobs({ knobs, queries }: { knobs: Knob[]; queries: Queries }) {
  return (
    <section className="card">
      <h2>Adjustable sizes</h2>
      {knobs.length === 0 ? (
        <p className="quiet">
          No running query leaves a choice. One with <code>WINDOW(RANGE MIN 10 MINUTES, MAX 1 HOUR)</code> or{" "}
          <code>GRANULARITY(COARSEST 1 HOUR, FINEST 10 SECONDS)</code> would.
        </p>
      ) : (
        <ul className="knobs">
          {knobs.map((knob) => (
            <Row key={knob.name} knob={knob} domain={queries.get(knob.queries[0] ?? "")?.domain ?? null} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Row({ knob, domain }: { knob: Knob; domain: Domain }) {
  const words = (size: number) => sizeWords(knob.name, size, domain);
  return (
    <li>
      <strong>{knob.name}</strong>
      <span className="size numbers">{words(knob.size)}</span>
      <span className="range numbers" aria-hidden>
        <span>{words(knob.lower)}</span>
        <span className="slot">
          <span className="at" style={{ left: `${100 * position(knob)}%` }} />
        </span>
        <span>{words(knob.upper)}</span>
      </span>
      <span className="visually-hidden">{`between ${words(knob.lower)} and ${words(knob.upper)}`}</span>
      <span className="users">
        {knob.queries.map((query) => (
          <a key={query} href={linkTo("queries", query)}>
            {query}
          </a>
        ))}
      </span>
    </li>
  );
}

/** Where a size is between its bounds, from 0 to 1. */
export function position({ size, lower, upper }: Pick<Knob, "size" | "lower" | "upper">): number {
  if (upper <= lower) return 1;
  return Math.min(1, Math.max(0, (size - lower) / (upper - lower)));
}
