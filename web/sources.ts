import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const PARTS = ["index.html", "package-lock.json", "public", "src", "vite.config.ts"];

function files(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((each) => files(join(path, each.name)));
  } catch {
    return [path]; // no folder
  }
}

/**
 * Leaves a hash of the sources beside what is built, so that a test sees when the bundle in the
 * package is older than they are. `tests/server/test_bundle.py` computes the same.
 */
export function hashOfSources(): Plugin {
  return {
    name: "hash-of-sources",
    generateBundle() {
      const hash = createHash("sha256");
      for (const file of PARTS.flatMap(files).sort()) hash.update(`${file}\n`).update(readFileSync(file));
      this.emitFile({ type: "asset", fileName: "sources.sha256", source: `${hash.digest("hex")}\n` });
    },
  };
}
