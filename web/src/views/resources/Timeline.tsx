import { useMemo, useState } from "react";
import type { Happening } from "../../api/types";
import { clustersOf, LANES, spansOf, ticksOf, wordFor, type Cluster } from "./lanes";

const PLACES = 90;
const SHORTEST = 60_000;

/** A lane for every kind of happening over one axis of time. Arrow keys go from sign to sign. */
export function Timeline({ events, until }: { events: Happening[]; until: number }) {
  const to = Math.max(until, events.at(-1)!.at);
  const from = Math.min(events[0]!.at, to - SHORTEST);
  const clusters = useMemo(() => clustersOf(events, from, to, PLACES), [events, from, to]);
  const [chosen, setChosen] = useState<number | null>(null);
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = chosen === null ? clusters.length - 1 : chosen + step;
    setChosen(Math.min(clusters.length - 1, Math.max(0, next)));
  };
  return (
    <div className="timeline">
      <div
        className="lanes"
        role="group"
        tabIndex={0}
        aria-label="Events over time; arrow keys go from one to the next"
        onKeyDown={onKeyDown}
        onMouseLeave={() => setChosen(null)}
        onBlur={() => setChosen(null)}
      >
        {LANES.map((lane) => (
          <div key={lane} className="lane">
            <span className="lane-name">{lane}</span>
            <div className="track">
              {lane === "plans" && <Spans events={events} from={from} to={to} />}
              {clusters.map((cluster, index) =>
                cluster.lane === lane ? <Sign key={index} cluster={cluster} chosen={index === chosen} choose={() => setChosen(index)} /> : null,
              )}
            </div>
          </div>
        ))}
        <Axis from={from} to={to} />
      </div>
      <p className="caption" role="status">
        {chosen !== null && clusters[chosen] ? wordsFor(clusters[chosen]) : "Point at a sign to read what happened."}
      </p>
    </div>
  );
}

const percent = (share: number): string => `${(100 * share).toFixed(2)}%`;

function Sign({ cluster, chosen, choose }: { cluster: Cluster; chosen: boolean; choose: () => void }) {
  const kind = cluster.events.at(-1)!.kind;
  const many = cluster.events.length > 1;
  return (
    <span className={`sign ${kind} ${chosen ? "chosen" : ""}`} style={{ left: percent(cluster.place) }} onMouseEnter={choose} onClick={choose}>
      {many && cluster.events.length}
    </span>
  );
}

function Spans({ events, from, to }: { events: Happening[]; from: number; to: number }) {
  return spansOf(events, from, to).map(({ query, begin, end }, index) => (
    <span key={index} className="span" title={`${query} changes its plan`} style={{ left: percent(begin), width: percent(end - begin) }} />
  ));
}

function Axis({ from, to }: { from: number; to: number }) {
  return (
    <div className="lane axis" aria-hidden>
      <span className="lane-name" />
      <div className="track">
        {ticksOf(from, to - 0.03 * (to - from)).map((at) => (
          <time key={at} className="numbers" style={{ left: percent((at - from) / (to - from)) }}>
            {new Date(at).toTimeString().slice(0, 8)}
          </time>
        ))}
      </div>
    </div>
  );
}

function wordsFor({ events }: Cluster): string {
  const [first, ...rest] = events;
  const time = new Date(first!.at).toTimeString().slice(0, 8);
  const more = rest.length > 2 ? ` and ${rest.length - 2} more` : "";
  return `${time} ${wordFor(first!.kind)}: ${[first!, ...rest.slice(0, 2)].map((each) => each.text).join("; ")}${more}`;
}
