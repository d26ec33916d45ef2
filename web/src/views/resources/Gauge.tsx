import type { AlignedData } from "uplot";
import { useFollow } from "../../live/follow";
import { TimeChart, type Series } from "../../parts/TimeChart";

interface Props {
  title: string;
  what: string;
  unit: string;
  words: (value: number) => string;
  measured: number;
  estimated: number | null;
  bound: number | null;
  history: { at: number[]; measured: number[]; estimated: (number | null)[] };
}

const MEASURED: Series = { label: "measured", colour: "--accent", fill: true };
const ESTIMATED: Series = { label: "estimated", colour: "--kind-estimate", dashed: true };
const BOUND: Series = { label: "bound", colour: "--bad" };

/** Below this share of its bound, the bound would make the lines flat. */
const SEEN = 0.15;

/** One thing that is bounded: how much of it is in use, and how that went over time. */
export function Gauge({ title, what, unit, words, measured, estimated, bound, history }: Props) {
  const follow = useFollow(history.at.at(-1));
  const inSight = bound !== null && Math.max(estimated ?? 0, ...history.measured) > SEEN * bound;
  const series = [MEASURED, ...(estimated === null ? [] : [ESTIMATED]), ...(inSight ? [BOUND] : [])];
  const data = () =>
    [
      history.at.map((each) => each / 1000),
      history.measured,
      ...(estimated === null ? [] : [history.estimated]),
      ...(inSight ? [history.at.map(() => bound)] : []),
    ] as AlignedData;
  return (
    <section className="card gauge">
      <header>
        <h2>{title}</h2>
        <p className="quiet">{what}</p>
      </header>
      <p className="reading numbers">
        <strong>{words(measured)}</strong>
        <span className="quiet">
          {unit} {bound === null ? "no limit" : `of ${words(bound)}`}
        </span>
      </p>
      <Scale measured={measured} estimated={estimated} bound={bound} title={title} words={words} />
      <p className="keys quiet numbers">
        <span className="key out">measured</span>
        {estimated !== null && <span className="key estimate">estimated {words(estimated)}</span>}
        {bound !== null && <span className="key bound">bound{inSight ? "" : `, far above: ${words(bound)}`}</span>}
      </p>
      <TimeChart height={170} series={series} words={words} data={data} follow={follow} label={`${title} over time`} />
    </section>
  );
}

function Scale({ measured, estimated, bound, title, words }: Pick<Props, "measured" | "estimated" | "bound" | "title" | "words">) {
  if (bound === null) return <div className="scale open" aria-hidden />;
  const share = (value: number) => `${Math.min(100, (100 * value) / bound).toFixed(1)}%`;
  return (
    <div
      className={`scale ${measured > 0.9 * bound ? "high" : ""}`}
      role="meter"
      aria-label={title}
      aria-valuemin={0}
      aria-valuemax={bound}
      aria-valuenow={measured}
      aria-valuetext={`${words(measured)} of ${words(bound)}`}
    >
      <span className="fill" style={{ width: share(measured) }} />
      {estimated !== null && <span className="mark" style={{ left: share(estimated) }} title={`estimated ${words(estimated)}`} />}
    </div>
  );
}
