import { useReactFlow } from "@xyflow/react";

/** Zoom in, further away, all of it, and a fresh layout. */
export function Controls({ fit, tidy }: { fit: () => void; tidy: () => void }) {
  const { zoomIn, zoomOut } = useReactFlow();
  return (
    <div className="controls" role="toolbar" aria-label="View of the graph">
      <button onClick={() => void zoomIn()} aria-label="Zoom in" title="Zoom in">
        +
      </button>
      <button onClick={() => void zoomOut()} aria-label="Zoom out" title="Zoom out">
        −
      </button>
      <button onClick={fit} title="Fit to window">
        Fit
      </button>
      <button onClick={tidy} title="Arrange again">
        Tidy
      </button>
    </div>
  );
}
