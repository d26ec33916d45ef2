import { useState } from "react";
import type { Problem, QueryEntry } from "../../../api/types";
import { linkTo } from "../../../shell/routes";
import { attempt, drop, start, stop } from "../actions";
import { Bin, Play, Stop } from "../icons";

interface Props {
  query: QueryEntry;
  /** With words beside the signs. */
  wide?: boolean;
  done: (problem: Problem | null) => void;
}

/** Start or stop, and drop, which asks once. */
export function Actions({ query, wide, done }: Props) {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const { name } = query;
  async function act(action: Promise<unknown>) {
    setBusy(true);
    const problem = await attempt(action);
    setBusy(false);
    done(problem);
    return problem;
  }
  async function dropped() {
    setAsking(false);
    if (!(await act(drop(name))) && location.hash === linkTo("queries", name)) location.hash = linkTo("queries");
  }
  if (asking)
    return (
      <span className="q-actions q-asking" role="group" aria-label={`Drop ${name}?`}>
        <span>Drop {wide ? name : "it"}?</span>
        <button className="danger" onClick={dropped} autoFocus>
          Drop
        </button>
        <button onClick={() => setAsking(false)}>Keep</button>
      </span>
    );
  const running = query.state === "running";
  const button = wide ? "" : "ghost q-small";
  return (
    <span className="q-actions">
      {running ? (
        <button className={button} disabled={busy} onClick={() => act(stop(name))} aria-label={`Stop ${name}`} title="Stop">
          <Stop /> {wide && "Stop"}
        </button>
      ) : (
        <button className={button} disabled={busy} onClick={() => act(start(name))} aria-label={`Start ${name}`} title="Start">
          <Play /> {wide && "Start"}
        </button>
      )}
      <button className={`${button} danger`} disabled={busy} onClick={() => setAsking(true)} aria-label={`Drop ${name}`} title="Drop">
        <Bin /> {wide && "Drop"}
      </button>
    </span>
  );
}
