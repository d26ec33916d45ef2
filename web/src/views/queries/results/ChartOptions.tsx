import type { Column } from "../../../api/types";
import { isNumber } from "../editor/examples";
import type { Drawing } from "./ChartPanel";
import type { Choice } from "./picture";

interface OptionsProps {
  columns: Column[];
  drawing: Drawing | null;
  draw: (drawing: Drawing | null) => void;
  choice: Choice;
  choose: (choice: Choice) => void;
  top: number;
  setTop: (top: number) => void;
}

const TOPS = [3, 5, 8, 20];

/** What is drawn, and how. */
export function ChartOptions({ columns, drawing, draw, choice, choose, top, setTop }: OptionsProps) {
  const numbers = columns.flatMap((column, n) => (isNumber(column) ? [n] : []));
  const names = (by: number[]) => by.map((n) => columns[n]?.name).join(", ");
  const ways = [[], ...columns.map((_, n) => [n]), columns.map((_, n) => n).filter((n) => n !== choice.value)];
  const by = [...new Map([choice.by, ...ways].map((way) => [way.join(), way])).values()];
  return (
    <>
      <div role="group" aria-label="Chart" className="q-switch">
        {numbers.length > 0 && (
          <button aria-pressed={drawing === "steps"} onClick={() => draw("steps")}>
            Steps
          </button>
        )}
        <button aria-pressed={drawing === "lanes"} onClick={() => draw("lanes")}>
          Timeline
        </button>
        <button aria-pressed={drawing === null} onClick={() => draw(null)}>
          Off
        </button>
      </div>
      {drawing === "steps" && (
        <Pick
          label="Value"
          value={choice.value ?? 0}
          options={numbers.map((n) => [n, columns[n]!.name])}
          pick={(n) => choose({ ...choice, value: n })}
        />
      )}
      {drawing !== null && (
        <Pick
          label={drawing === "steps" ? "Series" : "Lanes"}
          value={by.findIndex((way) => way.join() === choice.by.join())}
          options={by.map((way, n) => [n, way.length ? names(way) : "all rows together"])}
          pick={(n) => choose({ ...choice, by: by[n]! })}
        />
      )}
      {drawing !== null && <Pick label="First" value={top} options={TOPS.map((n) => [n, String(n)])} pick={setTop} />}
    </>
  );
}

/** A small choice with a word before it. */
export function Pick({
  label,
  value,
  options,
  pick,
}: {
  label: string;
  value: number;
  options: [number, string][];
  pick: (value: number) => void;
}) {
  return (
    <label className="q-pick">
      <span>{label}</span>
      <select value={value} onChange={(event) => pick(Number(event.target.value))}>
        {options.map(([number, words]) => (
          <option key={number} value={number}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
