import type { Domain, PlanNode } from "../../../api/types";
import { words, type Mark, type Marks } from "./compare";
import { MEASURES, readable } from "./costs";

export interface Showing {
  domain: Domain;
  marks: Marks;
  most: Record<string, number>;
  costs: boolean;
  columns: boolean;
}

/** A plan as boxes with lines: what an operator reads stands below it. */
export function PlanTree({ label, plan, showing }: { label: string; plan: PlanNode; showing: Showing }) {
  const costs = showing.costs && plan.cost !== null;
  return (
    <section className={costs ? "q-tree priced" : "q-tree"} aria-label={label}>
      <div className="q-treehead">
        <h3>{label}</h3>
        {costs && (
          <span className="q-costs" aria-hidden>
            {MEASURES.map(({ title, about }) => (
              <span key={title} title={about}>
                {title}
              </span>
            ))}
          </span>
        )}
      </div>
      <ul>
        <Branch node={plan} showing={showing} />
      </ul>
    </section>
  );
}

/** A chain of operators goes straight down; only where inputs meet are there branches. */
function Branch({ node, showing }: { node: PlanNode; showing: Showing }) {
  const chain = [node];
  while (chain.at(-1)!.inputs.length === 1) chain.push(chain.at(-1)!.inputs[0]!);
  const { inputs } = chain.at(-1)!;
  return (
    <li>
      {chain.map((each, n) => (
        <Box key={n} node={each} showing={showing} />
      ))}
      {inputs.length > 1 && (
        <ul>
          {inputs.map((input, n) => (
            <Branch key={n} node={input} showing={showing} />
          ))}
        </ul>
      )}
    </li>
  );
}

const WORDS: Record<Mark, string> = { same: "", moved: "moved", changed: "changed", gone: "gone", new: "new" };

function Box({ node, showing }: { node: PlanNode; showing: Showing }) {
  const mark = showing.marks.mark.get(node) ?? "same";
  return (
    <div className={`q-box ${mark}`}>
      <div className="q-boxhead">
        <strong>{node.operator}</strong>
        {WORDS[mark] && <span className="q-mark">{WORDS[mark]}</span>}
        {showing.costs && node.cost && <Costs node={node} showing={showing} />}
      </div>
      {node.details && <Details node={node} showing={showing} />}
      {showing.columns && (
        <p className="q-boxcolumns">
          {node.columns.map(({ name, type }) => (
            <span key={name}>
              {name} <span className="quiet">{type.toLowerCase()}</span>
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

/** What an operator does; the words that are others than before stand out. */
function Details({ node, showing: { marks, domain } }: { node: PlanNode; showing: Showing }) {
  const other = marks.other.get(node)?.details;
  const text = (details: string) => readable(details, domain);
  const found = words(text(node.details), other === undefined ? undefined : text(other));
  return <code>{found.map(({ word, changed }, n) => (changed ? <mark key={n}>{word}</mark> : word))}</code>;
}

function Costs({ node, showing }: { node: PlanNode; showing: Showing }) {
  return (
    <span className="q-costs numbers">
      {MEASURES.map(({ name, title, shown }) => {
        const share = showing.most[name] ? (node.cost?.[name] ?? 0) / showing.most[name] : 0;
        return (
          <span key={name} title={title}>
            {shown(node.cost!, showing.domain)}
            <i style={{ width: `${Math.round(100 * share)}%` }} />
          </span>
        );
      })}
    </span>
  );
}
