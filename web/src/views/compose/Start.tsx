import type { SourceEntry } from "../../api/types";
import { Glyph } from "./Glyph";
import { isMeasure } from "./model/columns";
import { examples, type Example } from "./model/examples";
import { useComposing } from "./useComposing";

/** Where there is nothing yet: how to begin. */
export function Start({ take }: { take: (example: Example) => void }) {
  const { catalog, draft, operators } = useComposing();
  if (!catalog) return null;
  const stream = liveliest(catalog.streams);
  return (
    <div className="start">
      <h1>Compose a query</h1>
      {stream ? (
        <>
          <p>
            <span className="by-mouse">Drag a stream from the left onto this canvas, and go on from there.</span>
            <span className="by-touch">Add a stream to begin.</span> Or begin with one of these:
          </p>
          <div className="examples">
            {examples(stream, draft.level).map((example) => (
              <button key={example.title} onClick={() => take(example)}>
                <span className="chain" aria-hidden>
                  {example.draft.parts.map((part) => (
                    <Glyph key={part.id} operator={operators.get(part.kind) ?? null} />
                  ))}
                </span>
                <strong>{example.title}</strong>
                <span className="quiet">{example.summary}</span>
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
  const weight = (stream: SourceEntry) => (stream.columns.some(isMeasure) ? 1e9 : 0) + (stream.rate ?? 0);
  return [...streams].sort((one, other) => weight(other) - weight(one))[0];
}
