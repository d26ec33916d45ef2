import { candidates, freePlace, places } from "../model/connecting";
import type { Operator } from "../model/contract";
import { consumers, partOf, type Draft, type Part } from "../model/draft";
import { connect, disconnect } from "../model/edits";
import { useComposing } from "../useComposing";

/** What an operator reads and where its rows go, chosen by name: connecting without a mouse. */
export function Connections({ part, operator }: { part: Part; operator: Operator }) {
  const { draft, dispatch, operators } = useComposing();
  const named = (id: string) => `${operators.get(partOf(draft, id)?.kind ?? "")?.title ?? "?"} (${id})`;
  const edit = (change: (now: Draft) => Draft) => dispatch({ type: "edit", change });
  const targets = draft.parts.flatMap((other) => {
    const form = operators.get(other.kind);
    const place = form ? freePlace(form, other.inputs) : null;
    return place !== null && candidates(draft, other.id, place).includes(part.id) ? [{ id: other.id, place }] : [];
  });
  const going = consumers(draft, part.id);
  return (
    <>
      {places(operator, part.inputs).map((place, at) => (
        <div className="field inline" key={at}>
          <label htmlFor={`${part.id}-in${at}`}>{place}</label>
          <select
            id={`${part.id}-in${at}`}
            value={part.inputs[at] ?? ""}
            onChange={({ target }) =>
              edit((now) => (target.value ? connect(now, target.value, part.id, at) : disconnect(now, part.id, at)))
            }
          >
            <option value="">connect to…</option>
            {part.inputs[at] && <option value={part.inputs[at]!}>{named(part.inputs[at]!)}</option>}
            {candidates(draft, part.id, at).map((id) => (
              <option key={id} value={id}>
                {named(id)}
              </option>
            ))}
          </select>
        </div>
      ))}
      {targets.length > 0 && (
        <div className="field inline">
          <label htmlFor={`${part.id}-out`}>{going.length > 0 ? "also to" : "rows go to"}</label>
          <select
            id={`${part.id}-out`}
            value=""
            onChange={({ target }) => {
              const found = targets.find((each) => each.id === target.value);
              if (found) edit((now) => connect(now, part.id, found.id, found.place));
            }}
          >
            <option value="">connect to…</option>
            {targets.map(({ id }) => (
              <option key={id} value={id}>
                {named(id)}
              </option>
            ))}
          </select>
        </div>
      )}
    </>
  );
}
