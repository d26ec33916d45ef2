import { describe, expect, it } from "vitest";
import { compose, reduce, type Change } from "./composer";
import { candidates, freePlace, openEnds, places, refusal } from "./connecting";
import type { Operator } from "./contract";
import { emptyDraft, fromComposed, resultOf, toComposed, type Draft } from "./draft";
import { add, configure, connect, disconnect, duplicate, insert, move, remove } from "./edits";
import { arrange } from "./layout";

const operator = (kind: string, min: number, max = min): Operator => ({
  kind, title: kind, group: "rows", summary: "", inputs: { min, max }, settings: [],
});
const scan = operator("scan", 0);
const filter = operator("filter", 1);
const join = operator("join", 2);
const union = operator("union", 2, 20);

function built(...kinds: Operator[]): Draft {
  return kinds.reduce((draft, each) => add(draft, each, 0, 0)[0], emptyDraft());
}

/** Two scans into a join, then a filter. */
function joined(): Draft {
  let draft = built(scan, scan, join, filter);
  draft = connect(draft, "scan1", "join1", 0);
  draft = connect(draft, "scan2", "join1", 1);
  return connect(draft, "join1", "filter1", 0);
}

describe("connecting", () => {
  it("refuses circles, itself and what is there already", () => {
    const draft = joined();
    expect(refusal(draft, "filter1", "join1", 0)).toContain("loop");
    expect(refusal(draft, "join1", "join1", 0)).toContain("its own rows");
    expect(refusal(draft, "scan1", "join1", 0)).toContain("already");
    expect(refusal(draft, "scan1", "filter1", 0)).toBeNull();
    expect(connect(draft, "filter1", "join1", 0)).toBe(draft);
  });
  it("offers only what can be connected", () => {
    expect(candidates(joined(), "join1", 1)).toEqual(["scan1"]);
  });
  it("names the places, one more than is used where there may be more", () => {
    expect(places(join, [])).toEqual(["left", "right"]);
    expect(places(filter, ["a"])).toEqual(["input"]);
    expect(places(union, ["a", "b"])).toEqual(["input 1", "input 2", "input 3"]);
    expect(freePlace(join, ["a", null])).toBe(1);
    expect(freePlace(filter, ["a"])).toBeNull();
  });
  it("goes on from the open ends", () => {
    const ends = (draft: Draft, selected: string | null, next: Operator) =>
      openEnds(draft, selected, next).map((part) => part.id);
    expect(ends(joined(), null, filter)).toEqual(["filter1"]);
    expect(ends(joined(), "join1", filter)).toEqual(["join1"]);
    expect(ends(joined(), "scan1", join)).toEqual(["scan1"]);
    expect(ends(built(scan, scan), "scan2", join)).toEqual(["scan1", "scan2"]);
    expect(ends(built(scan, scan), null, filter)).toEqual([]);
    expect(ends(joined(), "filter1", scan)).toEqual([]);
  });
});

describe("edits", () => {
  it("joins up what stood around a removed part", () => {
    let draft = built(scan, filter, filter);
    draft = connect(connect(draft, "scan1", "filter1", 0), "filter1", "filter2", 0);
    expect(remove(draft, ["filter1"]).parts.at(-1)!.inputs).toEqual(["scan1"]);
    expect(remove(joined(), ["join1"]).parts.at(-1)!.inputs).toEqual([null]);
  });
  it("puts a part in between", () => {
    const draft = insert(add(joined(), filter, 0, 0)[0], "filter2", "join1", 1);
    expect(draft.parts.find((part) => part.id === "join1")!.inputs).toEqual(["scan1", "filter2"]);
    expect(draft.parts.find((part) => part.id === "filter2")!.inputs).toEqual(["scan2"]);
  });
  it("copies the connections among copies", () => {
    const [draft, made] = duplicate(joined(), ["join1", "filter1"]);
    expect(made).toEqual(["join2", "filter2"]);
    expect(draft.parts.find((part) => part.id === "filter2")!.inputs).toEqual(["join2"]);
    expect(draft.parts.find((part) => part.id === "join2")!.inputs).toEqual(["scan1", "scan2"]);
  });
  it("lays parts out from top to bottom", () => {
    const height = Object.fromEntries(arrange(joined()).parts.map((part) => [part.id, part.y]));
    expect(height.scan1).toBeLessThan(height.join1!);
    expect(height.join1).toBeLessThan(height.filter1!);
  });
  it("puts what is read on the left to the left", () => {
    const swapped = joined();
    swapped.parts.find((part) => part.id === "join1")!.inputs = ["scan2", "scan1"];
    const from = Object.fromEntries(arrange(swapped).parts.map((part) => [part.id, part.x]));
    expect(from.scan2).toBeLessThan(from.scan1!);
  });
});

describe("composed plans", () => {
  it("leave out empty places and name the result", () => {
    const plan = toComposed(disconnect(joined(), "join1", 0));
    expect(plan.output).toBe("filter1");
    expect(plan.nodes.find((node) => node.id === "join1")!.inputs).toEqual(["scan2"]);
  });
  it("come back as they were", () => {
    const draft = { ...joined(), name: "q", output: "filter1" };
    expect(fromComposed(toComposed(draft), "q")).toEqual(draft);
  });
  it("have the last part as result unless another is chosen", () => {
    expect(resultOf(joined())).toBe("filter1");
    expect(resultOf({ ...joined(), output: "join1" })).toBe("join1");
    expect(resultOf(emptyDraft())).toBeNull();
  });
});

describe("the composer", () => {
  const edit = (change: Change, topic?: string) => ({ type: "edit", change, topic }) as const;
  it("undoes and redoes", () => {
    let state = compose(emptyDraft());
    state = reduce(state, edit((now) => [add(now, scan, 0, 0)[0], ["scan1"]]));
    expect(state.selected).toEqual(["scan1"]);
    state = reduce(state, { type: "undo" });
    expect(state.history.present.parts).toEqual([]);
    expect(state.selected).toEqual([]);
    state = reduce(state, { type: "redo" });
    expect(state.history.present.parts).toHaveLength(1);
  });
  it("undoes typing in one field at once", () => {
    let state = compose(built(filter));
    for (const text of ["p", "pr", "price"])
      state = reduce(state, edit((now) => configure(now, "filter1", { condition: text }), "filter1 condition"));
    expect(state.history.past).toHaveLength(1);
    state = reduce(state, { type: "undo" });
    expect(state.history.present.parts[0]!.settings).toEqual({});
  });
  it("makes no step of a change that changes nothing", () => {
    const state = compose(built(filter));
    expect(reduce(state, edit((now) => move(now, { filter1: { x: 0, y: 0 } })))).toEqual(state);
  });
});
