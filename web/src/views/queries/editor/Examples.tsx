import type { Catalog } from "../../../api/types";
import { examplesFor } from "./examples";

/** Queries to begin with, when there is nothing in the editor. */
export function Examples({ catalog, load }: { catalog: Catalog; load: (sql: string) => void }) {
  return (
    <div className="q-examples">
      <h2>Start with an example</h2>
      <ul>
        {examplesFor(catalog).map((each) => (
          <li key={each.title}>
            <button type="button" onClick={() => load(each.sql)}>
              <strong>{each.title}</strong>
              <span className="quiet">{each.about}</span>
              <code>{each.sql.trim()}</code>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
