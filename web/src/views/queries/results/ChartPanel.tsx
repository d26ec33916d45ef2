import { useMemo, useRef, useState, type ReactNode } from "react";
import { duration } from "../../../parts/format";
import { COLOURS, IntervalChart } from "./IntervalChart";
import type { Known } from "./intervals";
import type { Found } from "./nearest";
import { lanes, steps, valuesAt, type Choice, type Picture, type Window } from "./picture";
import { shown } from "./rows";
import { clock } from "./times";

export type Drawing = "steps" | "lanes";

interface Props {
  known: Known;
  drawing: Drawing;
  choice: Choice;
  window: Window;
  top: number;
  at: number | null;
  look: (at: number | null) => void;
  /** Along the axis of time. */
  children: ReactNode;
}

/** The one idea as a picture: every row holds from one instant to another. */
export function ChartPanel({ known, drawing, choice, window, top, at, look, children }: Props) {
  const [found, setFound] = useState<Found | null>(null);
  const [lit, setLit] = useState<string | null>(null);
  const picture = useMemo(
    () => (drawing === "steps" ? steps(known, choice, window, top) : lanes(known, choice.by, window, top)),
    [known, drawing, choice, window, top],
  );
  const paint = usePaint(picture);
  return (
    <figure className={`q-chart ${drawing}`} aria-label="Chart">
      <div className="q-canvas">
        <IntervalChart
          picture={picture}
          window={window}
          domain={known.domain}
          at={at}
          completeUntil={known.completeUntil}
          lit={lit}
          paint={paint}
          look={look}
          hover={setFound}
        />
        {known.held.length === 0 && <p className="q-blank quiet">Rows are drawn over the time in which they hold.</p>}
        {found && <Tip found={found} known={known} />}
      </div>
      {children}
      {drawing === "steps" && <Legend picture={picture} paint={paint} at={at} lit={lit} light={setLit} />}
    </figure>
  );
}

/** A series keeps its colour as long as it is among the first. */
function usePaint(picture: Picture): number[] {
  const known = useRef(new Map<string, number>());
  const keys = picture.series.map(({ key }) => key);
  const kept = new Map(
    keys.flatMap((key) => (known.current.has(key) ? [[key, known.current.get(key)!] as const] : [])),
  );
  const used = new Set(kept.values());
  for (const key of keys.filter((each) => !kept.has(each))) {
    let number = 0;
    while (used.has(number)) number += 1;
    used.add(number);
    kept.set(key, number);
  }
  known.current = kept;
  return keys.map((key) => kept.get(key)!);
}

interface LegendProps {
  picture: Picture;
  paint: number[];
  at: number | null;
  lit: string | null;
  light: (key: string | null) => void;
}

/** The series and what they are at the instant; a click brings one out. */
function Legend({ picture, paint, at, lit, light }: LegendProps) {
  return (
    <ul className="q-legend" aria-label="Series">
      {picture.series.map((series, n) => (
        <li key={series.key}>
          <button
            className="ghost q-small"
            aria-pressed={lit === series.key}
            onClick={() => light(lit === series.key ? null : series.key)}
          >
            <span className="q-swatch" style={{ background: `var(--series-${(paint[n]! % COLOURS) + 1})` }} />
            <span className="q-serieskey">{series.key || "all rows"}</span>
            <span className="numbers q-seriesvalue">
              {at === null
                ? ""
                : valuesAt(series, at)
                    .map(({ y }) => String(Number(y.toPrecision(6))))
                    .slice(0, 2)
                    .join(", ") || "–"}
            </span>
          </button>
        </li>
      ))}
      {picture.others > 0 && <li className="quiet">{picture.others.toLocaleString("en")} more in grey</li>}
    </ul>
  );
}

function Tip({ found, known }: { found: Found; known: Known }) {
  const { held } = found.bar;
  const end = held.to !== null && held.to === known.completeUntil ? "…" : clock(held.to, known.domain);
  return (
    <div
      className={found.right ? "q-tip left" : "q-tip"}
      role="presentation"
      style={{ left: found.left, top: found.top }}
    >
      <dl>
        {known.columns.map((column, n) => (
          <div key={column.name}>
            <dt>{column.name}</dt>
            <dd>{shown(held.row[n] ?? null)}</dd>
          </div>
        ))}
      </dl>
      <p className="numbers">
        [{clock(held.from, known.domain)}, {end}){" "}
        <span className="quiet">{held.to !== null && duration(held.to - held.from, known.domain)}</span>
      </p>
    </div>
  );
}
