import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { hashOfSources } from "./sources.ts";

// `npm run dev` shows the page with the sources as they are, over a running `tidemill serve`.
const server = process.env.TIDEMILL_SERVER ?? "http://127.0.0.1:8321";

export default defineConfig({
  plugins: [react(), hashOfSources()],
  base: "./",
  build: { outDir: "../src/tidemill/server/page", emptyOutDir: true, license: { fileName: "licenses.md" } },
  server: { proxy: { "/api": { target: server, ws: true } } },
  test: { environment: "jsdom", include: ["src/**/*.test.{ts,tsx}"] },
});
