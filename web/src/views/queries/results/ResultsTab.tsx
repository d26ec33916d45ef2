import { useState } from "react";
import type { QueryEntry } from "../../../api/types";
import { ChangeLog } from "./ChangeLog";
import { Downloads } from "./Downloads";
import { latest } from "./intervals";
import { SnapshotTable } from "./SnapshotTable";
import { TimeBar, TimeSlider } from "./TimeBar";
import { useResults } from "./useResults";

type Mode = "snapshot" | "changes";

/** The answers of a query: what holds at an instant, and what came and went. */
export function ResultsTab({ query }: { query: QueryEntry }) {
  const [paused, pause] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const [mode, setMode] = useState<Mode>("snapshot");
  const { known, problem } = useResults(query.name, paused);
  const shown = at ?? latest(known);
  function look(wanted: number | null) {
    setAt(wanted);
    if (wanted === null) pause(false);
  }
  return (
    <div className="q-results">
      <TimeBar known={known} at={at} look={look} paused={paused} pause={pause} />
      <TimeSlider known={known} at={at} look={look} />
      <div className="q-modes">
        <div role="group" aria-label="What to show" className="q-switch">
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
        <ChangeLog known={known} />
      )}
    </div>
  );
}
