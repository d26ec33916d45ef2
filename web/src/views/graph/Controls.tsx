import { useReactFlow } from "@xyflow/react";

/** Closer, further away, all of it, and a fresh layout. */
export function Controls({ fit, tidy }: { fit: () => void; tidy: () => void }) {
  const { zoomIn, zoomOut } = useReactFlow();
  return (
    <div className="controls" role="toolbar" aria-label="View of the graph">
      <button onClick={() => void zoomIn()} aria-label="Closer" title="Closer">
        +
      </button>
      <button onClick={() => void zoomOut()} aria-label="Further away" title="Further away">
        −
      </button>
      <button onClick={fit} title="Show all of it">
        Fit
      </button>
      <button onClick={tidy} title="Lay everything out anew">
        Tidy
      </button>
    </div>
  );
}
