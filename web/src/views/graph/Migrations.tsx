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
    <div className="migrations">
      {migrations.map((each) => (
        <Migration key={each.query} state={newest(each, data)} />
      ))}
    </div>
  );
}

/** What remains changes with every tick; the graph is told only when its structure changes. */
export function newest(state: MigrationState, queries: QueryEntry[] | null): MigrationState {
  return { ...state, ...queries?.find((each) => each.name === state.query)?.migration };
}

function Migration({ state }: { state: MigrationState }) {
  return (
    <details className="migration" open={matchMedia("(min-width: 760px)").matches}>
      <summary>
        <strong>{state.query}</strong> changes its plan
      </summary>
      <p>
        Both plans run side by side. Before the split time the answer comes from the <span className="tint old">old plan</span>, from then on
        from the <span className="tint new">new plan</span>. The <span className="tint hand_over">hand-over</span> joins both: no row is
        missing, none comes twice.
      </p>
      <dl className="numbers">
        <dt>split time</dt>
        <dd>{instant(state.split, state.domain)}</dd>
        <dt>time left</dt>
        <dd>{duration(state.time_left, state.domain)}</dd>
        <dt>old rows</dt>
        <dd>{state.old_rows.toLocaleString("en")}</dd>
        <dt>phase</dt>
        <dd>{state.phase.replaceAll("_", " ")}</dd>
      </dl>
    </details>
  );
}
