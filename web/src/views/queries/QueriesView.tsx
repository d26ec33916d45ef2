import type { EditorView } from "@codemirror/view";
import { useEffect, useRef, useState } from "react";
import type { Catalog, QueryEntry } from "../../api/types";
import { useLive } from "../../live/hooks";
import { Empty, Trouble } from "../../parts/Help";
import { linkTo } from "../../shell/routes";
import "../../styles/queries.css";
import { addToDraft } from "./editor/drafts";
import { insertText } from "./editor/SqlEditor";
import { Workbench } from "./editor/Workbench";
import { Chevron } from "./icons";
import { QueryPage, type Tab } from "./query/QueryPage";
import { CatalogPanel } from "./side/CatalogPanel";
import { QueryList } from "./side/QueryList";

// What a test in a browser can hold on to (role and name):
//   on a phone the button "Queries and streams" opens and closes the next two
//   region "Queries": searchbox "Filter queries", link NAME, buttons "Start NAME", "Stop NAME", "Drop NAME",
//     then in group "Drop NAME?" the buttons "Drop" and "Keep" (in "Start NAME without the past?" the buttons
//     "Start from now on" and "Leave"); link "New"
//   region "Catalog": button "Columns of NAME" (opens), button NAME (inserts), form "Push rows into NAME" with one
//     field for each column, buttons "Push", "Push 10 invented" and "JSON", and a status
//   region "New query": textbox "SQL", textbox "Name", buttons "Plan" and "Start query" or "Run", status "Check",
//     list "Problems", list "Done"; marks in the text have the classes cm-lintRange-error and cm-lintRange-warning
//   region "Query NAME": tabs "Results", "Plan", "SQL", "Details"; link "Open in the composer"
//     Results: textbox "Instant", slider "Time", buttons "Follow the newest", "Pause"/"Resume", "Snapshot", "Changes",
//       "Download CSV|Arrow|JSON", "Steps", "Timeline", "Off"; regions "Snapshot" and "Changes" (a table); figure "Chart" with
//       data-testid "chart" and list "Series"
//     Plan: tablist "Plan"; regions "Before" and "After"; list "Rules" with a button for each; checkboxes "Costs" and "Columns"
//     SQL: textbox "SQL of NAME", buttons "Change the query" and "Find a better plan", status "Migration"

/** Queries: those there are, and the one that is being written. */
export default function QueriesView({ rest }: { rest: string }) {
  const queries = useLive<QueryEntry[]>("queries", "queries");
  const catalog = useLive<Catalog>("catalog", "catalog");
  const [tab, choose] = useState<Tab>("Results");
  const [open, setOpen] = useState(!rest);
  useEffect(() => setOpen(!rest), [rest]);
  const editor = useRef<EditorView | null>(null);
  const query = queries.data?.find((each) => each.name === rest);

  function changed() {
    queries.reload();
    catalog.reload();
  }
  function insert(text: string) {
    if (editor.current) return insertText(editor.current, text);
    addToDraft(text);
    location.hash = linkTo("queries");
  }
  return (
    <div className="queries">
      <aside className={open ? "q-side" : "q-side closed"} aria-label="Queries and catalog">
        <button className="q-sidetoggle" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Chevron /> Queries and streams
        </button>
        {queries.problem && <Trouble problem={queries.problem} />}
        <QueryList queries={queries.data} chosen={rest} changed={changed} />
        {queries.data && <CatalogPanel catalog={catalog.data} insert={insert} />}
      </aside>
      <div className="q-main">
        {query && (
          <QueryPage
            key={rest}
            query={query}
            catalog={catalog.data}
            handle={editor}
            tab={tab}
            choose={choose}
            changed={changed}
          />
        )}
        {!rest && <Workbench catalog={catalog.data} queries={queries.data ?? []} handle={editor} done={changed} />}
        {rest && !query && queries.data && <Gone name={rest} />}
      </div>
    </div>
  );
}

function Gone({ name }: { name: string }) {
  return (
    <div className="q-gone">
      <Empty title={`There is no query ${name}`}>
        <p>
          It was dropped, or its name is another. <a href={linkTo("queries")}>Write a new one</a>.
        </p>
      </Empty>
    </div>
  );
}
