import { useMemo } from "react";
import { Trouble } from "../../parts/Help";
import { bytes } from "../../parts/format";
import { useLive } from "../../live/hooks";
import type { Resources } from "../../api/types";
import "../../styles/resources.css";
import { useQueries } from "../../live/useQueries";
import { Gauge } from "./Gauge";
import { Knobs } from "./Knobs";
import { NoBounds } from "./NoBounds";
import { Happenings } from "./Happenings";
import { textOf } from "./lanes";

const cores = (value: number): string => value.toFixed(2);

/** What the running graph needs, what it may need, and what was done about it. */
export default function ResourcesView(_: { rest: string }) {
  const { data, problem } = useLive<Resources>("resources", "resources");
  if (!data) return <div className="pad">{problem ? <Trouble problem={problem} /> : <p className="quiet">Loading…</p>}</div>;
  return <Shown resources={data} />;
}

function Shown({ resources }: { resources: Resources }) {
  const { bounds, now, history, knobs, events } = resources;
  const queries = useQueries(events.length);
  const told = useMemo(() => {
    const domainOf = (name: string) => queries.get(knobs.find((knob) => knob.name === name)?.queries[0] ?? "")?.domain ?? null;
    return events.map((event) => ({ ...event, text: textOf(event, domainOf) }));
  }, [events, knobs, queries]);
  return (
    <div className="resources">
      {bounds.memory === null && bounds.cpu === null && <NoBounds />}
      <div className="gauges">
        <Gauge
          title="Memory"
          what="operator state"
          unit=""
          words={bytes}
          measured={now.memory}
          estimated={now.estimated_memory}
          bound={bounds.memory}
          history={{ at: history.at, measured: history.memory, estimated: history.estimated_memory }}
        />
        <Gauge
          title="Processor"
          what="operator work"
          unit="cores"
          words={cores}
          measured={now.cpu}
          estimated={now.estimated_cpu}
          bound={bounds.cpu}
          history={{ at: history.at, measured: history.cpu, estimated: history.estimated_cpu }}
        />
      </div>
      <Knobs knobs={knobs} queries={queries} />
      <Happenings events={told} until={10_000 * Math.ceil((history.at.at(-1) ?? 0) / 10_000)} />
    </div>
  );
}
