import { useReactFlow } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Trouble } from "../../parts/Help";
import { Dragging } from "./Dragging";
import { Canvas } from "./canvas/Canvas";
import { edgeAt } from "./canvas/flow";
import { emptyDraft, partOf } from "./model/draft";
import { Outcome } from "./outcome/Outcome";
import { RunForm } from "./outcome/RunForm";
import { Guide } from "./panel/Guide";
import { Palette } from "./Palette";
import { Panel } from "./panel/Panel";
import { QueryChooser } from "./QueryChooser";
import { Sheets, type Sheet } from "./Sheets";
import { Start } from "./Start";
import { Toolbar } from "./Toolbar";
import { useChecked } from "./useChecked";
import { useComposer } from "./useComposer";
import { ComposingContext } from "./useComposing";
import { useDrag, type Offer } from "./useDrag";
import { useKeys } from "./useKeys";
import { OPENED, useOpening } from "./useOpening";
import { useOperators } from "./useOperators";
import { useSources } from "./useSources";
import { useTidying } from "./useTidying";

/** Everything that the composer consists of, held together. */
export function Workbench({ open }: { open: string }) {
  const { state, draft, selected, dispatch, drop, take, removeSelected, duplicateSelected } = useComposer();
  const { operators, problem } = useOperators(draft.level);
  const { catalog, queries } = useSources();
  const checking = useChecked(draft);
  const canvas = useRef<HTMLDivElement>(null);
  const flow = useReactFlow();
  const [sheet, setSheet] = useState<Sheet | null>(null);
  const { fit, tidy, loaded, added, sizes } = useTidying(dispatch, !checking.busy);
  const opening = useOpening({ name: open, draft, checked: checking.checked, dispatch, loaded });
  useKeys({ dispatch, duplicateSelected });
  useEffect(fit, [fit]);

  const dropped = useCallback(
    (offer: Offer, x: number, y: number) => {
      const at = flow.screenToFlowPosition({ x: x - 110, y: y - 20 }, { snapToGrid: true });
      drop(offer, at.x, at.y, edgeAt(x, y));
    },
    [drop, flow],
  );
  const { start, dragged } = useDrag(canvas, dropped);
  const taken = (offer: Offer) => {
    take(offer, sizes());
    setSheet("set");
    added();
  };
  const composing = useMemo(
    () => ({ draft, selected, dispatch, operators, catalog, queries, checked: checking.checked }),
    [draft, selected, dispatch, operators, catalog, queries, checking.checked],
  );
  const part = selected.length === 1 ? partOf(draft, selected[0]) : undefined;
  const refused = problem ?? opening.problem ?? checking.refused;
  return (
    <ComposingContext value={composing}>
      <div className={`compose${sheet ? ` sheet-${sheet}` : ""}`}>
        <Toolbar
          canUndo={state.history.past.length > 0}
          canRedo={state.history.future.length > 0}
          switchTo={opening.switchTo}
          arrange={() => tidy()}
          fit={fit}
          clear={() => dispatch({ type: "load", draft: emptyDraft(draft.level) })}
          duplicate={duplicateSelected}
          remove={removeSelected}
        >
          <QueryChooser />
          <RunForm />
        </Toolbar>
        <div className="bench">
          <Palette take={taken} drag={start} />
          <div className="middle">
            <div className="stage">
              <Canvas at={canvas} edit={() => setSheet("set")} />
              {draft.parts.length === 0 && (
                <Start
                  take={(example) => {
                    dispatch({ type: "load", draft: example.draft, topic: OPENED });
                    loaded();
                  }}
                />
              )}
              {refused && <Trouble problem={refused} />}
            </div>
            <Outcome
              checking={checking}
              show={(id) => (dispatch({ type: "select", ids: [id] }), setSheet("set"))}
              resized={fit}
            />
          </div>
          <section className="inspector" aria-label="Settings">
            {part ? <Panel part={part} /> : <Guide />}
          </section>
        </div>
        <Sheets open={sheet} show={setSheet} />
        {dragged && <Dragging {...dragged} />}
      </div>
    </ComposingContext>
  );
}
