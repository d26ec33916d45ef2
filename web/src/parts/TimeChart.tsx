import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { onRecolour } from "./theme";

export interface Series {
  label: string;
  /** The name of a colour, like `--accent`. */
  colour: string;
  dashed?: boolean;
  fill?: boolean;
}

interface Props {
  series: Series[];
  /** The values of the axis, in words. */
  words: (value: number) => string;
  height: number;
  /** Gives the data: seconds since 1970, then one column for each series. Called for every `round`. */
  data: () => uPlot.AlignedData;
  /** Tells when there is new data; returns how to stop that. */
  follow: (changed: () => void) => () => void;
  label: string;
}

/** Lines over time, as wide as their place; new data is drawn without rendering anything. */
export function TimeChart({ series, words, height, data, follow, label }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const newest = useRef(data);
  newest.current = data;
  const look = JSON.stringify(series);
  useEffect(() => {
    const element = place.current!;
    const make = () => new uPlot(optionsFor(element, JSON.parse(look) as Series[], words, height), newest.current(), element);
    let chart = make();
    const remake = () => (chart.destroy(), (chart = make()));
    const resized = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    const off = [onRecolour(remake), follow(() => chart.setData(newest.current()))];
    return () => {
      off.forEach((each) => each());
      resized.disconnect();
      chart.destroy();
    };
  }, [look, words, height, follow]);
  return <div ref={place} className="chart" style={{ height }} role="img" aria-label={label} />;
}

function optionsFor(element: HTMLElement, series: Series[], words: (value: number) => string, height: number): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const font = "11px system-ui, sans-serif";
  const axis = { stroke: colour("--quiet"), font, grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
  return {
    width: element.clientWidth,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    scales: { y: { range: (_chart, _low, high) => [0, high > 0 ? high * 1.1 : 1] } },
    axes: [
      { ...axis, size: 22, space: 70, values: (_chart, ticks) => ticks.map(clock) },
      { ...axis, size: 52, space: 26, values: (_chart, ticks) => ticks.map((each) => words(each)) },
    ],
    series: [{}, ...series.map((each) => lineFor(each, colour(each.colour)))],
  };
}

function lineFor({ label, dashed, fill }: Series, stroke: string): uPlot.Series {
  return {
    label,
    stroke,
    width: 1.5,
    points: { show: false },
    ...(dashed ? { dash: [5, 4] } : {}),
    ...(fill ? { fill: `color-mix(in srgb, ${stroke} 14%, transparent)` } : {}),
  };
}

const clock = (seconds: number): string => new Date(seconds * 1000).toTimeString().slice(0, 8);
