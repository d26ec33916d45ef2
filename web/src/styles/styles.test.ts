import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const FOLDER = "src/styles";

/** The rules of a sheet that stand by themselves. */
function outermost(css: string): string[] {
  let depth = 0;
  let text = "";
  const found: string[] = [];
  for (const sign of css.replace(/\/\*[\s\S]*?\*\//g, "")) {
    if (sign === "{" && depth++ === 0) found.push(text.trim());
    if (depth === 0) text += sign;
    if (sign === "}" && --depth === 0) text = "";
  }
  return found;
}

// Views are loaded one after the other and their sheets stay, so that one could reach into another.
test("what a view says about looks stays in the view", () => {
  for (const sheet of readdirSync(FOLDER).filter((name) => name.endsWith(".css") && name !== "base.css")) {
    const own = `.view-${sheet.replace(".css", "")}`;
    for (const rule of outermost(readFileSync(join(FOLDER, sheet), "utf8")))
      expect(rule.startsWith("@keyframes") || rule === own, `${sheet}: ${rule}`).toBe(true);
  }
});
