import { Empty } from "../../parts/Help";
import { linkTo } from "../../shell/routes";

const EXAMPLE = `CREATE STREAM bid (item STRING, price BIGINT, ts TIMESTAMP)
ORDERED BY ts;

CREATE QUERY hot AS
SELECT item, COUNT(*) AS bids
FROM bid WINDOW(RANGE 5 MINUTES)
GROUP BY item;

START QUERY hot;`;

/** For those who have no query yet. */
export function Welcome() {
  return (
    <Empty title="No query is running yet">
      <p>All running queries form one graph: what two of them have in common is computed once, and you see it here at work. Begin with a stream and a query:</p>
      <pre>{EXAMPLE}</pre>
      <p>
        <a className="go" href={linkTo("queries")}>
          Write a query
        </a>
      </p>
      <p>
        Or see an auction house at work: <code>tidemill serve --demo</code>
      </p>
    </Empty>
  );
}
