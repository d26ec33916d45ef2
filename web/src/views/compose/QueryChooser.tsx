import { linkTo } from "../../shell/routes";

/** Opens the plan of a query that there is. */
export function QueryChooser({ names }: { names: string[] }) {
  return (
    <select
      aria-label="Open a query"
      value=""
      onChange={({ target }) => (location.hash = linkTo("compose", target.value))}
    >
      <option value="">Open a query…</option>
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}
