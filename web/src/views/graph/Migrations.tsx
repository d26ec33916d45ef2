import { useLive } from "../../live/hooks";
import type { MigrationState, QueryEntry } from "../../api/types";
import { duration, instant } from "../../parts/format";

/** Queries that are on their way from one plan to another, in words. */
export function Migrations({ migrations }: { migrations: MigrationState[] }) {
  return migrations.length === 0 ? null : <Running migrations={migrations} />;
}

function Running({ migrations }: { migrations: MigrationState[] }) {
  const { data } = useLive<QueryEntry[]>("queries", "queries");
  return (
    <div className="migrations" role="status">
      {migrations.map((each) => (
        <Migration key={each.query} state={newest(each, data)} />
      ))}
    </div>
  );
}

/** What remains changes with every tick; the graph is told only when its structure changes. */
function newest(state: MigrationState, queries: QueryEntry[] | null): MigrationState {
  const now = queries?.find((each) => each.name === state.query)?.migration;
  return now ? { ...state, split: now.split, time_left: now.time, old_rows: now.old_rows } : state;
}

function Migration({ state }: { state: MigrationState }) {
  const split = instant(state.split, state.domain);
  return (
    <article className="migration">
      <h2>{state.query} changes its plan</h2>
      <p>
        Both plans run for a while. Until <time className="numbers">{split}</time>, the split time, the answer comes from the{" "}
        <span className="tint old">old plan</span>; from then on from the <span className="tint new">new plan</span>. The{" "}
        <span className="tint hand_over">hand-over</span> joins both, so no row is missing and none comes twice.
      </p>
      <dl className="numbers">
        <div>
          <dt>time left</dt>
          <dd>{duration(state.time_left, state.domain)}</dd>
        </div>
        <div>
          <dt>rows in the old plan</dt>
          <dd>{state.old_rows.toLocaleString("en")}</dd>
        </div>
        <div>
          <dt>phase</dt>
          <dd>{state.phase.replaceAll("_", " ")}</dd>
        </div>
      </dl>
    </article>
  );
}
