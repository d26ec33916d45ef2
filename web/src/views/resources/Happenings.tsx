import { memo, useMemo, useState } from "react";
import type { Happening } from "../../api/types";
import { linkTo } from "../../shell/routes";
import { wordFor } from "./lanes";
import { Timeline } from "./Timeline";

const FIRST = 50;
const MORE = 200;

/** Events, as a picture and as a list. */
export const Happenings = memo(
  function Happenings({ events, until }: { events: Happening[]; until: number }) {
    return (
      <section className="card">
        <h2>Events</h2>
        {events.length === 0 ? (
          <p className="quiet">Nothing yet: starts and stops, changes of plans and of sizes, failures and refusals will be here.</p>
        ) : (
          <>
            <Timeline events={events} until={until} />
            <List events={events} />
          </>
        )}
      </section>
    );
  },
  (before, after) => newest(before.events) === newest(after.events) && before.until === after.until,
);

const newest = (events: Happening[]): string => `${events.length} ${events.at(-1)?.at} ${events.at(-1)?.text}`;

function List({ events }: { events: Happening[] }) {
  const [most, setMost] = useState(FIRST);
  const shown = useMemo(() => events.slice(-most).reverse(), [events, most]);
  return (
    <>
      <ol className="happenings">
        {shown.map((event, index) => (
          <li key={events.length - index} className={event.kind}>
            <time className="quiet numbers">{new Date(event.at).toTimeString().slice(0, 8)}</time>
            <span className="kind">{wordFor(event.kind)}</span>
            <span>
              {event.text} {event.query && <a href={linkTo("queries", event.query)}>open {event.query}</a>}
            </span>
          </li>
        ))}
      </ol>
      {shown.length < events.length && <button onClick={() => setMost(most + MORE)}>Show older ones</button>}
    </>
  );
}
