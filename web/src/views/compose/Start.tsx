import type { Catalog, SourceEntry } from "../../api/types";
import { measures } from "./model/columns";
import { examples, type Example } from "./model/examples";

/** Where there is nothing yet: how to begin. */
export function Start({ catalog, take }: { catalog: Catalog | null; take: (example: Example) => void }) {
  const stream = liveliest(catalog?.streams ?? []);
  return (
    <div className="start">
      <h1>Compose a query</h1>
      {stream ? (
        <>
          <p>
            <span className="by-mouse">Drag a stream from the left onto this canvas, and go on from there.</span>
            <span className="by-touch">Add a stream, and go on from there.</span> Or begin with one of these:
          </p>
          <div className="examples">
            {examples(stream).map((example) => (
              <button key={example.title} onClick={() => take(example)}>
                <strong>{example.title}</strong>
                <span>{example.summary}</span>
                <Picture count={example.draft.parts.length} />
              </button>
            ))}
          </div>
        </>
      ) : (
        <>
          <p>A plan begins with a stream, and there is none yet. Create one under Queries, for example:</p>
          <pre>CREATE STREAM bid (item STRING, price BIGINT, at TIMESTAMP) TIMESTAMP BY at;</pre>
        </>
      )}
    </div>
  );
}

/** What shows most: a stream with something to measure, and much of it. */
function liveliest(streams: SourceEntry[]): SourceEntry | undefined {
  const weight = (stream: SourceEntry) => (measures(stream.columns).length ? 1e9 : 0) + (stream.rate ?? 0);
  return [...streams].sort((one, other) => weight(other) - weight(one))[0];
}

/** A plan in small. */
function Picture({ count }: { count: number }) {
  return (
    <svg viewBox={`0 0 60 ${count * 20}`} aria-hidden>
      {Array.from({ length: count }, (_, at) => (
        <g key={at}>
          {at > 0 && <line x1="30" x2="30" y1={at * 20 - 6} y2={at * 20 + 2} />}
          <rect x="8" y={at * 20 + 2} width="44" height="12" rx="3" />
        </g>
      ))}
    </svg>
  );
}
