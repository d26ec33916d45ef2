import { useEffect, useMemo, useRef, useState } from "react";
import type { Domain, GraphNode } from "../../api/types";
import { duration, instant } from "../../parts/format";
import { linkTo } from "../../shell/routes";
import { Charts } from "./Charts";
import { figure, share, times } from "./figures";
import { changesOf, History } from "./history";
import { Icon } from "./Icon";
import { measures } from "./measures";
import { kindOf, meaningOf, titleOf } from "./names";

/** All about one part of the graph. */
export function Panel({ node, domain, close }: { node: GraphNode; domain: Domain; close: () => void }) {
  const history = useMemo(() => new History(node.id), [node.id]);
  useEffect(() => history.follow(), [history]);
  return (
    <aside className="panel" aria-label={`Details of ${titleOf(node)}`}>
      <header className={kindOf(node.operator)}>
        <span className="part-icon">
          <Icon kind={kindOf(node.operator)} />
        </span>
        <div>
          <h2>{titleOf(node)}</h2>
          <p className="quiet">{meaningOf(node.operator)}</p>
        </div>
        <button className="ghost" onClick={close} aria-label="Close the details" title="Close (Escape)">
          ✕
        </button>
      </header>
      <div className="panel-body">
        {node.details && <pre className="details">{node.details}</pre>}
        <Users node={node} />
        <Now node={node} domain={domain} />
        <Charts history={history} />
        <Sizes node={node} history={history} domain={domain} />
      </div>
    </aside>
  );
}

function Users({ node }: { node: GraphNode }) {
  const [one, many] = ["Used by one query", `Shared by ${node.queries.length} queries`];
  return (
    <section>
      <h3>{node.queries.length > 1 ? many : one}</h3>
      <ul className="users">
        {node.queries.map((query) => (
          <li key={query}>
            <a href={linkTo("queries", query)}>{query}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The numbers of the moment, written where they are shown. */
function Now({ node, domain }: { node: GraphNode; domain: Domain }) {
  const list = useRef<HTMLDListElement>(null);
  useEffect(() => {
    const cells = [...list.current!.querySelectorAll("dd")];
    const write = () => figuresOf(node.id, domain).forEach(([, text], index) => (cells[index]!.textContent = text));
    write();
    return measures.read(write);
  }, [node.id, domain]);
  return (
    <dl className="now numbers" ref={list}>
      {figuresOf(node.id, domain).map(([name]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd />
        </div>
      ))}
    </dl>
  );
}

function figuresOf(id: number, domain: Domain): [string, string][] {
  const value = (field: Parameters<typeof measures.get>[1]) => measures.get(id, field);
  const watermark = value("watermark");
  return [
    ["rows in", `${figure(value("rows_in"))} (${figure(value("input_rate"))}/s)`],
    ["rows out", `${figure(value("rows_out"))} (${figure(value("output_rate"))}/s)`],
    ["rows out for one in", times(value("selectivity"))],
    ["rows remembered", figure(value("state_rows"))],
    ["bytes remembered", figure(value("state_bytes"))],
    ["time spent", `${figure(value("seconds"))} s (now ${share(value("busy"))})`],
    ["watermark", Number.isNaN(watermark) ? "the end of time" : instant(watermark, domain)],
  ];
}

/** Sizes of windows and granules: what is in force, and what was. */
function Sizes({ node, history, domain }: { node: GraphNode; history: History; domain: Domain }) {
  const [, again] = useState(0);
  const count = useRef(0);
  useEffect(
    () =>
      history.watch(() => {
        const known = allChanges(history).length;
        if (known !== count.current) again((count.current = known));
      }),
    [history],
  );
  if (node.window === null && node.granularity === null) return null;
  const rows = node.operator.startsWith("CountWindow");
  return (
    <section>
      <h3>Settings in force</h3>
      {(["window", "granularity"] as const).map((name) => (
        <ul className="sizes numbers" key={name}>
          {changesOf(history.at, history.columns[name])
            .reverse()
            .map(({ at, size }, index) => (
              <li key={at} className={index === 0 ? "" : "quiet"}>
                {name} {rows ? `${size.toLocaleString("en")} rows` : duration(size, domain)}
                <time> since {new Date(at * 1000).toTimeString().slice(0, 8)}</time>
              </li>
            ))}
        </ul>
      ))}
    </section>
  );
}

const allChanges = (history: History) =>
  (["window", "granularity"] as const).flatMap((name) => changesOf(history.at, history.columns[name]));
