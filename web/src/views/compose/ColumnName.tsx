/** A column of a plan; the alias that it comes from is less important than its name. */
export function ColumnName({ name }: { name: string }) {
  const dot = name.indexOf(".");
  return (
    <span className="name" title={name}>
      {dot > 0 && <span className="alias">{name.slice(0, dot + 1)}</span>}
      {name.slice(dot + 1)}
    </span>
  );
}
