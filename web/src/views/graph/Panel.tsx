import { useEffect, useMemo, useRef } from "react";
import type { Domain, GraphNode, QueryEntry } from "../../api/types";
import { instant } from "../../parts/format";
import { linkTo } from "../../shell/routes";
import { Charts } from "./Charts";
import { figure, share, times } from "./figures";
import { History } from "./history";
import { Icon } from "./Icon";
import { measures, type Field } from "./measures";
import { kindOf, meaningOf, sizeOf, titleOf } from "./names";

interface PanelProps {
  node: GraphNode;
  /** The projection that has no card of its own. */
  then: GraphNode | null;
  query: QueryEntry | undefined;
  close: () => void;
}

/** All about one part of the graph. */
export function Panel({ node, then, query, close }: PanelProps) {
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
        {then && (
          <section>
            <h3>Then columns are computed</h3>
            <pre className="details">{then.details}</pre>
          </section>
        )}
        <Users node={node} />
        <Now node={node} domain={query?.domain ?? null} />
        <Sizes node={node} query={query} />
        <Charts history={history} />
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
    const write = () => figuresOf(node, domain).forEach(([, text], index) => (cells[index]!.textContent = text));
    write();
    return measures.read(write);
  }, [node, domain]);
  return (
    <dl className="now numbers" ref={list}>
      {figuresOf(node, domain).map(([name]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd />
        </div>
      ))}
    </dl>
  );
}

function figuresOf(node: GraphNode, domain: Domain): [string, string][] {
  const value = (field: Field) => measures.get(node.id, field);
  const size = (name: "window" | "granularity"): [string, string][] =>
    node[name] === null ? [] : [[name, sizeOf(node.operator, value(name) || node[name], domain)]];
  const watermark = value("watermark");
  return [
    ["rows in", `${figure(value("rows_in"))} (${figure(value("input_rate"))}/s)`],
    ["rows out", `${figure(value("rows_out"))} (${figure(value("output_rate"))}/s)`],
    ["rows out per row in", times(value("selectivity"))],
    ["rows in state", figure(value("state_rows"))],
    ["state size", figure(value("state_bytes"))],
    ["CPU time", `${figure(value("seconds"))} s (now ${share(value("busy"))})`],
    ...size("window"),
    ...size("granularity"),
    ["watermark", Number.isNaN(watermark) ? "the end of time" : instant(watermark, domain)],
  ];
}

/** Sizes of windows and granules: what is in force, and what was. */
function Sizes({ node, query }: { node: GraphNode; query: QueryEntry | undefined }) {
  if (node.window === null && node.granularity === null) return null;
  const knob = /knob=(.*)$/.exec(node.details)?.[1] ?? "";
  const domain = query?.domain ?? null;
  const words = (value: number) => sizeOf(node.operator, value, domain);
  const changes = query?.sizes[knob] ?? [];
  return (
    <section>
      <h3>{knob ? `Sizes in force: ${knob}` : "Size"}</h3>
      {!knob && <p className="sizes">It never changes.</p>}
      <ol className="sizes numbers">
        {[...changes].reverse().map(([since, value]) => (
          <li key={since}>
            {words(value)} <span className="quiet">from {since <= 0 ? "the beginning" : instant(since, domain)} on</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
