import { useCallback, useEffect, useReducer } from "react";
import { freePlace, openEnd } from "./model/connecting";
import { compose, reduce } from "./model/composer";
import type { Operator } from "./model/contract";
import { partOf, type Draft } from "./model/draft";
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

/** Below the end of the flow and connected to it; a source stands beside what there is. */
function goOn(
  draft: Draft,
  selected: string | null,
  { operator, settings }: Offer,
  sizes: Sizes,
): [Draft, string[]] {
  const end = operator.inputs.max === 0 ? null : partOf(draft, openEnd(draft, selected));
  const right = Math.max(0, ...draft.parts.map((part) => part.x + USUAL.width + GAP));
  const [x, y] = end ? [end.x, end.y + Math.max(sizes[end.id]?.height ?? 0, USUAL.height) + GAP] : draft.parts.length ? [right, 0] : [0, 0];
  const [grown, id] = add(draft, operator, x, y, settings);
  return [end ? connect(grown, end.id, id, first(operator)) : grown, [id]];
}

const first = (operator: Operator): number => freePlace(operator, []) ?? 0;
