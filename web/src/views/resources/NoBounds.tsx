/** What could be set, for those who have set nothing. */
export function NoBounds() {
  return (
    <section className="card hint">
      <h2>No limits are set</h2>
      <p>
        This server uses what its queries need. Give it bounds, and it keeps to them: windows that may be smaller become smaller, time that
        may be coarser becomes coarser, and a query that would not fit is refused. Every answer stays exact for the sizes in force.
      </p>
      <pre>tidemill serve --memory 2GB --cpu 0.8</pre>
      <p>
        A query says what it can live with: <code>FROM bid WINDOW(RANGE MIN 10 MINUTES, MAX 1 HOUR)</code>
      </p>
    </section>
  );
}
