import { useCallback, useEffect, useReducer } from "react";
import { openEnds } from "./model/connecting";
import { compose, reduce } from "./model/composer";
import type { Draft, Part } from "./model/draft";
import { add, connect, duplicate, insert, remove } from "./model/edits";
import { keep, kept } from "./model/keep";
import { GAP, USUAL, type Sizes } from "./model/layout";
import type { Offer } from "./useDrag";

interface Edge {
  to: string;
  place: number;
}

/** The draft with its past, kept over reloads, and the ways to change it. */
export function useComposer() {
  const [state, dispatch] = useReducer(reduce, undefined, () => compose(kept()));
  const draft = state.history.present;
  const { selected } = state;
  useEffect(() => keep(draft), [draft]);

  /** A new operator at a place of the canvas; on a connection, it comes in between. */
  const drop = useCallback((offer: Offer, x: number, y: number, edge: Edge | null) => {
    dispatch({
      type: "edit",
      change: (now) => {
        const [grown, id] = add(now, offer.operator, x, y, offer.settings);
        return [edge ? insert(grown, id, edge.to, edge.place) : grown, [id]];
      },
    });
  }, []);

  /** A new operator that goes on from what is selected. */
  const take = useCallback(
    (offer: Offer, sizes: Sizes) =>
      dispatch({ type: "edit", change: (now) => goOn(now, selected.at(-1) ?? null, offer, sizes) }),
    [selected],
  );

  const removeSelected = useCallback(
    () => dispatch({ type: "edit", change: (now) => remove(now, selected) }),
    [selected],
  );
  const duplicateSelected = useCallback(
    () => dispatch({ type: "edit", change: (now) => duplicate(now, selected) }),
    [selected],
  );
  return { state, draft, selected, dispatch, drop, take, removeSelected, duplicateSelected };
}

/** Below the ends of the flow and connected to them; a source stands beside what there is. */
function goOn(
  draft: Draft,
  selected: string | null,
  { operator, settings }: Offer,
  sizes: Sizes,
): [Draft, string[]] {
  const ends = openEnds(draft, selected, operator);
  const [x, y] = ends.length > 0 ? below(ends, sizes) : beside(draft);
  const [grown, id] = add(draft, operator, x, y, settings);
  return [ends.reduce((all, end, place) => connect(all, end.id, id, place), grown), [id]];
}

function below(ends: readonly Part[], sizes: Sizes): [number, number] {
  const height = (part: Part) => Math.max(sizes[part.id]?.height ?? 0, USUAL.height);
  const middle = ends.reduce((sum, part) => sum + part.x, 0) / ends.length;
  return [middle, Math.max(...ends.map((part) => part.y + height(part))) + GAP];
}

function beside(draft: Draft): [number, number] {
  return [Math.max(0, ...draft.parts.map((part) => part.x + USUAL.width + GAP)), 0];
}
