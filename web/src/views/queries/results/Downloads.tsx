import { useState } from "react";
import { part, token } from "../../../api/client";
import { Download } from "../icons";

const FORMATS = ["csv", "arrow", "json"] as const;
type Format = (typeof FORMATS)[number];
const LIMIT = 1_000_000;

/** What is kept, or the snapshot that is looked at, as a file. */
export function Downloads({ name, at }: { name: string; at: number | null }) {
  const [failed, setFailed] = useState(false);
  return (
    <span
      className="q-downloads"
      role="group"
      aria-label={at === null ? "Download all that is kept" : "Download this snapshot"}
    >
      <Download />
      {FORMATS.map((format) => (
        <button
          key={format}
          className="ghost q-small"
          aria-label={`Download ${format.toUpperCase()}`}
          onClick={() =>
            save(name, at, format).then(
              () => setFailed(false),
              () => setFailed(true),
            )
          }
        >
          {format === "arrow" ? "Arrow" : format.toUpperCase()}
        </button>
      ))}
      {failed && <span className="bad">not possible now</span>}
    </span>
  );
}

// The token goes in a header, which a plain link cannot carry.
async function save(name: string, at: number | null, format: Format): Promise<void> {
  const what = at === null ? `results?limit=${LIMIT}` : `snapshot?at=${at}&limit=${LIMIT}`;
  const known = token.get();
  const response = await fetch(`api/queries/${part(name)}/${what}&format=${format}`, {
    headers: known ? { Authorization: `Bearer ${known}` } : {},
  });
  if (!response.ok) throw new Error(response.statusText);
  const address = URL.createObjectURL(await response.blob());
  Object.assign(document.createElement("a"), { href: address, download: `${name}.${format}` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
