import { fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import type { QueryEntry } from "../../../api/types";
import { QueryList } from "./QueryList";

const query = (name: string, state: QueryEntry["state"], error: string | null = null): QueryEntry => ({
  name,
  state,
  error,
  warnings: [],
  sql: `SELECT 1 AS ${name}`,
  columns: [],
  order: [],
  domain: null,
  complete_from: null,
  rows_out: 7,
  depends_on: [],
  sink: "memory",
  started: true,
  sizes: {},
  migration: null,
});

afterEach(() => vi.unstubAllGlobals());

test("queries are listed, filtered, and dropped after one question", async () => {
  const asked = vi.fn(async () => new Response("{}", { status: 200 }));
  vi.stubGlobal("fetch", asked);
  const changed = vi.fn();
  render(
    <QueryList
      queries={[query("hot", "running"), query("cold", "failed", "division by zero")]}
      chosen=""
      changed={changed}
    />,
  );
  expect(screen.getByText("division by zero")).toBeTruthy();
  fireEvent.change(screen.getByRole("searchbox"), { target: { value: "FAILED" } });
  expect(screen.queryByRole("button", { name: "Stop hot" })).toBeNull();

  fireEvent.click(screen.getByRole("button", { name: "Drop cold" }));
  expect(asked).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole("button", { name: "Drop" }));
  await waitFor(() => expect(changed).toHaveBeenCalled());
  expect(asked).toHaveBeenCalledWith("api/queries/cold", expect.objectContaining({ method: "DELETE" }));
});

test("a start that would miss the past asks before it does without", async () => {
  const help = "start the query before, or with partial=True";
  const refused = new Response(JSON.stringify({ error: { message: "never complete", help } }), { status: 400 });
  const asked = vi.fn(async () => new Response("{}", { status: 200 })).mockResolvedValueOnce(refused);
  vi.stubGlobal("fetch", asked);
  render(<QueryList queries={[query("last", "stopped")]} chosen="" changed={() => undefined} />);
  fireEvent.click(screen.getByRole("button", { name: "Start last" }));
  fireEvent.click(await screen.findByRole("button", { name: "Start from now on" }));
  await waitFor(() => expect(asked).toHaveBeenCalledTimes(2));
  expect(asked).toHaveBeenLastCalledWith(
    "api/queries/last/start",
    expect.objectContaining({ body: '{"partial":true}' }),
  );
});
