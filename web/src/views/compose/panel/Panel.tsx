import type { Column } from "../../../api/types";
import { ColumnName } from "../ColumnName";
import { Glyph } from "../Glyph";
import type { CheckedPlan, Operator } from "../model/contract";
import { resultOf, type Part } from "../model/draft";
import { choose, configure } from "../model/edits";
import { useComposing } from "../useComposing";
import { Connections } from "./Connections";
import { Field } from "./Field";

/** What the selected operator reads, how it is set, and what leaves it. */
export function Panel({ part }: { part: Part }) {
  const { draft, dispatch, operators, checked } = useComposing();
  const operator = operators.get(part.kind);
  if (!operator) return <p className="quiet">This server knows no operator `{part.kind}`.</p>;
  const isResult = resultOf(draft) === part.id;
  return (
    <div className="settings">
      <header>
        <Glyph operator={operator} />
        <div>
          <h2>{operator.title}</h2>
          <span className="quiet">{part.id}</span>
        </div>
      </header>
      <p className="quiet">{operator.summary}</p>
      <Connections part={part} operator={operator} />
      {operator.settings.map((form) => (
        <Field
          key={`${part.id} ${form.name}`}
          form={form}
          value={part.settings[form.name]}
          columns={incoming(part, checked)}
          problem={checked?.problems.find((each) => each.node === part.id && each.setting === form.name) ?? null}
          change={(value) =>
            dispatch({
              type: "edit",
              change: (now) => configure(now, part.id, { [form.name]: value }),
              topic: `${part.id} ${form.name}`,
            })
          }
        />
      ))}
      <General part={part} operator={operator} checked={checked} />
      <label className="toggle">
        <input
          type="checkbox"
          checked={isResult}
          onChange={() => dispatch({ type: "edit", change: (now) => choose(now, isResult ? null : part.id) })}
        />
        Its rows are the result
      </label>
    </div>
  );
}

/** What is wrong with the operator as a whole, or the columns that leave it. */
function General({ part, checked }: { part: Part; operator: Operator; checked: CheckedPlan | null }) {
  const node = checked?.nodes[part.id];
  const whole = checked?.problems.filter((each) => each.node === part.id && !each.setting) ?? [];
  return (
    <>
      {whole.map((problem, at) => (
        <p className="wrong" role="alert" key={at}>
          {problem.message}
          {problem.help && <span className="help">{problem.help}</span>}
        </p>
      ))}
      {node?.columns && (
        <div className="gives">
          <h3>Columns that leave it</h3>
          <table>
            <tbody>
              {node.columns.map((column, at) => (
                <tr key={at}>
                  <th scope="row">
                    <ColumnName name={column.name} />
                  </th>
                  <td>{column.type}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function incoming(part: Part, checked: CheckedPlan | null): Column[] {
  return part.inputs.flatMap((input) => (input && checked?.nodes[input]?.columns) || []);
}
