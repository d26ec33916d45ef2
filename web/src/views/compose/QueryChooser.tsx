import { linkTo } from "../../shell/routes";
import { useComposing } from "./useComposing";

/** Opens the plan of a query that there is. */
export function QueryChooser() {
  const { queries } = useComposing();
  return (
    <select
      aria-label="Open a query"
      value=""
      onChange={({ target }) => (location.hash = linkTo("compose", target.value))}
    >
      <option value="">Open a query…</option>
      {queries.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
