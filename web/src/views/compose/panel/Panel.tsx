import { ColumnName } from "../ColumnName";
import { Glyph } from "../Glyph";
import { columnsOf, errorsOf, incoming, warningsOf } from "../model/checked";
import type { CheckedPlan } from "../model/contract";
import { resultOf, type Part } from "../model/draft";
import { choose, configure } from "../model/edits";
import { useComposing } from "../useComposing";
import { Connections } from "./Connections";
import { Field } from "./Field";
import { Said } from "./Said";

/** What the selected operator reads, how it is set, and what leaves it. */
export function Panel({ part }: { part: Part }) {
  const { draft, dispatch, operators, checked } = useComposing();
  const operator = operators.get(part.kind);
  if (!operator) return <p className="quiet">This server knows no operator `{part.kind}`.</p>;
  const columns = incoming(checked, part);
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
          columns={columns}
          problem={errorsOf(checked, part.id).find((error) => error.setting === form.name) ?? null}
          change={(value) =>
            dispatch({
              type: "edit",
              change: (now) => configure(now, part.id, { [form.name]: value }),
              topic: `${part.id} ${form.name}`,
            })
          }
        />
      ))}
      <General part={part} checked={checked} />
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
function General({ part, checked }: { part: Part; checked: CheckedPlan | null }) {
  const columns = columnsOf(checked, part.id);
  return (
    <>
      {errorsOf(checked, part.id).map((error, at) => !error.setting && <Said key={at} problem={error} />)}
      {warningsOf(checked, part.id).map((warning, at) => (
        <Said key={at} problem={warning} isWarning />
      ))}
      {columns && (
        <div className="gives">
          <h3>Output columns</h3>
          <table>
            <tbody>
              {columns.map((column, at) => (
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
