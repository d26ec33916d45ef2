import { useMemo, useRef, useState } from "react";
import type { QueryEntry } from "../../../api/types";
import { ChangeLog } from "./ChangeLog";
import { ChartOptions, Pick } from "./ChartOptions";
import { ChartPanel, type Drawing } from "./ChartPanel";
import { Downloads } from "./Downloads";
import { latest, momentary } from "./intervals";
import { defaultChoice, type Choice } from "./picture";
import { SnapshotTable } from "./SnapshotTable";
import { spansFor, windowOf } from "./spans";
import { TimeBar, TimeSlider } from "./TimeBar";
import { useResults } from "./useResults";

type Mode = "snapshot" | "changes";

/** The answers of a query: what holds at an instant, what came and went, and all of it as a picture. */
export function ResultsTab({ query }: { query: QueryEntry }) {
  const [paused, pause] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const [chosen, setMode] = useState<Mode | null>(null);
  const [choice, choose] = useState<Choice>(() => defaultChoice(query.columns));
  const [drawing, draw] = useState<Drawing | null>(() => (choice.value === null ? "lanes" : "steps"));
  const [top, setTop] = useState(8);
  const [length, setLength] = useState<number | null>(null);
  const { known, problem } = useResults(query.name, paused);
  const spans = spansFor(known);
  const wanted = length ?? spans.at(-2)?.[0] ?? 0;
  // Time runs on, but not away from an instant that someone looks at.
  const last = useRef<number | null>(null);
  if (at === null) last.current = latest(known);
  const window = useMemo(() => windowOf(known, wanted, last.current, at), [known, wanted, at]);
  const shown = at ?? latest(known);
  const mode = chosen ?? (momentary(known) ? "changes" : "snapshot");
  function look(instant: number | null) {
    setAt(instant);
    if (instant === null) pause(false);
  }
  const slider = <TimeSlider known={known} window={window} last={last.current} at={at} look={look} />;
  return (
    <div className="q-results">
      <TimeBar known={known} at={at} look={look} paused={paused} pause={pause} />
      <div className="q-options">
        <ChartOptions
          columns={query.columns}
          drawing={drawing}
          draw={draw}
          choice={choice}
          choose={choose}
          top={top}
          setTop={setTop}
        />
        <Pick label="Time" value={wanted} options={spans} pick={setLength} />
      </div>
      {drawing ? (
        <ChartPanel known={known} drawing={drawing} choice={choice} window={window} top={top} at={shown} look={look}>
          {slider}
        </ChartPanel>
      ) : (
        slider
      )}
      <div className="q-modes">
        <div role="group" aria-label="Rows" className="q-switch">
          <button aria-pressed={mode === "snapshot"} onClick={() => setMode("snapshot")}>
            Snapshot
          </button>
          <button aria-pressed={mode === "changes"} onClick={() => setMode("changes")}>
            Changes
          </button>
        </div>
        <span className="q-fill" />
        <Downloads name={query.name} at={at} />
      </div>
      {mode === "snapshot" ? (
        <SnapshotTable query={query} known={known} at={shown} problem={problem} look={look} />
      ) : (
        <ChangeLog known={known} until={shown} />
      )}
    </div>
  );
}
