import { useState } from "react";
import type { Problem, QueryEntry } from "../../../api/types";
import { linkTo } from "../../../shell/routes";
import { attempt, couldBePartial, drop, start, stop } from "../actions";
import { Bin, Play, Stop } from "../icons";

interface Props {
  query: QueryEntry;
  /** With words beside the signs. */
  wide?: boolean;
  done: (problem: Problem | null) => void;
}

/** Start or stop, and drop, which asks once; so does a start that can only answer for what comes. */
export function Actions({ query, wide, done }: Props) {
  const [asking, setAsking] = useState<"drop" | "partial" | null>(null);
  const [busy, setBusy] = useState(false);
  const { name } = query;
  async function act(action: Promise<unknown>) {
    setBusy(true);
    const problem = await attempt(action);
    setBusy(false);
    done(problem);
    return problem;
  }
  async function begin() {
    const problem = await attempt(start(name));
    if (couldBePartial(problem)) setAsking("partial");
    else done(problem);
  }
  async function dropped() {
    setAsking(null);
    if (!(await act(drop(name))) && location.hash === linkTo("queries", name)) location.hash = linkTo("queries");
  }
  if (asking === "partial")
    return (
      <span className="q-actions q-asking" role="group" aria-label={`Start ${name} without the past?`}>
        <span>Older rows are no longer kept.</span>
        <button onClick={() => (setAsking(null), act(start(name, true)))} autoFocus>
          Start from now on
        </button>
        <button onClick={() => setAsking(null)}>Leave</button>
      </span>
    );
  if (asking === "drop")
    return (
      <span className="q-actions q-asking" role="group" aria-label={`Drop ${name}?`}>
        <span>Drop {wide ? name : "it"}?</span>
        <button className="danger" onClick={dropped} autoFocus>
          Drop
        </button>
        <button onClick={() => setAsking(null)}>Keep</button>
      </span>
    );
  const running = query.state === "running";
  const button = wide ? "" : "ghost q-small";
  return (
    <span className="q-actions">
      {running ? (
        <button
          className={button}
          disabled={busy}
          onClick={() => act(stop(name))}
          aria-label={`Stop ${name}`}
          title="Stop"
        >
          <Stop /> {wide && "Stop"}
        </button>
      ) : (
        <button className={button} disabled={busy} onClick={begin} aria-label={`Start ${name}`} title="Start">
          <Play /> {wide && "Start"}
        </button>
      )}
      <button
        className={`${button} danger`}
        disabled={busy}
        onClick={() => setAsking("drop")}
        aria-label={`Drop ${name}`}
        title="Drop"
      >
        <Bin /> {wide && "Drop"}
      </button>
    </span>
  );
}
