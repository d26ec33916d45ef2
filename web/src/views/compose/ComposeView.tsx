// Names that browser tests hold on to:
// - radios "Logical" and "Physical"; buttons "Undo", "Redo", "Duplicate", "Delete", "Arrange",
//   "Fit", "New"; combobox "Open a query".
// - section "Operators": one button per operator ("Filter", "Time window", ...) and per source of
//   the catalog (its name); pressing adds, dragging onto test id "canvas" adds there.
// - operators on the canvas: test id `operator-ID` (`operator-filter1`); their handles are labelled
//   `left of join1`, `input of filter1`, and `result of filter1`.
// - section "Settings": fields by their titles (lists: `Aggregates 1`), comboboxes `input`,
//   `left`, ... and `rows go to` to connect without a mouse; checkbox "Its rows are the result".
// - tabs "Problems", "SQL", "Explain" (test id "sql"), button "Show the outcome" folds them; edges
//   are labelled `from scan1 to filter1: fits`, or with what is wrong instead of "fits".
// - textbox "Name of the query", button "Run" ("Replace" if there is such a query), and then the
//   link "Show results".
import { ReactFlowProvider } from "@xyflow/react";
import "../../styles/compose.css";
import { Workbench } from "./Workbench";

/** Build a plan by hand, see what it means, and run it. */
export default function ComposeView({ rest }: { rest: string }) {
  return (
    <ReactFlowProvider>
      <Workbench open={rest} />
    </ReactFlowProvider>
  );
}
