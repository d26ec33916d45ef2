import type { AlignedData } from "uplot";
import { short } from "../../parts/format";
import { TimeChart } from "../../parts/TimeChart";
import { share } from "./figures";
import type { History } from "./history";
import type { Field } from "./measures";

const RATES = [
  { label: "in", colour: "--quiet", dashed: true },
  { label: "out", colour: "--accent", fill: true },
];
const STATE = [{ label: "rows", colour: "--kind-window", fill: true }];
const TIME = [{ label: "time", colour: "--kind-join", fill: true }];

/** What a part did over time. */
export function Charts({ history }: { history: History }) {
  const data = (...names: Field[]) => () => [history.at, ...names.map((name) => history.columns[name])] as AlignedData;
  const same = { height: 104, follow: history.watch };
  return (
    <section className="charts">
      <h3>
        Rows per second <span className="key in">in</span> <span className="key out">out</span>
      </h3>
      <TimeChart {...same} series={RATES} words={short} data={data("input_rate", "output_rate")} label="Rows per second over time" />
      <h3>Rows in state</h3>
      <TimeChart {...same} series={STATE} words={short} data={data("state_rows")} label="Rows in state over time" />
      <h3>CPU share</h3>
      <TimeChart {...same} series={TIME} words={share} data={data("busy")} label="CPU share over time" />
    </section>
  );
}
