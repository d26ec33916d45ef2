import { useState } from "react";
import type { Catalog, SourceEntry } from "../../../api/types";
import { instant, short } from "../../../parts/format";
import { Chevron } from "../icons";
import { PushRows } from "./PushRows";

interface Props {
  catalog: Catalog | null;
  insert: (text: string) => void;
}

/** What can be asked about; a click puts a name into the editor. */
export function CatalogPanel({ catalog, insert }: Props) {
  const groups: [string, SourceEntry[]][] = [
    ["Streams", catalog?.streams ?? []],
    ["Relations", catalog?.relations ?? []],
    ["Derived", catalog?.derived ?? []],
  ];
  const empty = catalog !== null && groups.every(([, entries]) => entries.length === 0);
  return (
    <section className="q-catalog" aria-label="Catalog">
      {empty && (
        <>
          <h2>Catalog</h2>
          <p className="quiet q-none">No streams yet: the example “A stream of your own” declares one.</p>
        </>
      )}
      {groups.map(
        ([title, entries]) =>
          entries.length > 0 && (
            <div key={title}>
              <h2>{title}</h2>
              <ul>
                {entries.map((each) => (
                  <Entry key={each.name} entry={each} insert={insert} />
                ))}
              </ul>
            </div>
          ),
      )}
    </section>
  );
}

function Entry({ entry, insert }: { entry: SourceEntry; insert: (text: string) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <li>
      <div className="q-entry">
        <button
          className="ghost q-small q-chevron"
          aria-expanded={open}
          aria-label={`Columns of ${entry.name}`}
          onClick={() => setOpen(!open)}
        >
          <Chevron />
        </button>
        <button className="ghost q-insert" onClick={() => insert(quoted(entry.name))} title={`Insert ${entry.name}`}>
          {entry.name}
        </button>
        <span className="q-rowfacts numbers" title={facts(entry)}>
          {entry.rate === undefined ? rowsOf(entry) : `${entry.rate < 0.05 ? 0 : short(entry.rate)}/s`}
        </span>
      </div>
      {open && (
        <div className="q-columns">
          <ul>
            {entry.columns.map((column) => (
              <li key={column.name}>
                <button
                  className="ghost q-insert"
                  onClick={() => insert(quoted(column.name))}
                  title={`Insert ${column.name}`}
                >
                  {column.name}
                </button>
                <span className="quiet">
                  {column.type.toLowerCase()}
                  {column.name === entry.time && " · time"}
                </span>
              </li>
            ))}
          </ul>
          <p className="quiet numbers">{facts(entry)}</p>
          {entry.pushed && <PushRows stream={entry} />}
        </div>
      )}
    </li>
  );
}

const rowsOf = (entry: SourceEntry): string => (typeof entry.rows === "number" ? `${short(entry.rows)} rows` : "");

function facts(entry: SourceEntry): string {
  const said = [
    typeof entry.rows === "number" ? `${entry.rows.toLocaleString("en")} rows` : "",
    entry.late_rows ? `${entry.late_rows.toLocaleString("en")} late` : "",
    entry.watermark === null || entry.watermark === undefined
      ? ""
      : `time has come to ${instant(entry.watermark, entry.domain ?? null)}`,
    entry.used_by.length ? `used by ${entry.used_by.join(", ")}` : "",
  ];
  return said.filter(Boolean).join(" · ") || "nothing read yet";
}

/** A name as the language takes it. */
export const quoted = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``);
