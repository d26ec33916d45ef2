import type { Column } from "../../../api/types";
import type { CheckedNode, CheckedPlan, PlanProblem } from "./contract";
import { numberOf, type Part } from "./draft";

export const nodeOf = (checked: CheckedPlan | null, id: string | null): CheckedNode | undefined =>
  checked?.nodes.find((node) => node.id === id);

export const columnsOf = (checked: CheckedPlan | null, id: string | null): Column[] | null =>
  nodeOf(checked, id)?.columns ?? null;

/** The columns that come in, of all inputs. */
export const incoming = (checked: CheckedPlan | null, part: Part): Column[] =>
  part.inputs.flatMap((input) => columnsOf(checked, input) ?? []);

const about = (problems: readonly PlanProblem[], id: string): PlanProblem[] =>
  problems.filter((problem) => problem.node === id);

export const errorsOf = (checked: CheckedPlan | null, id: string): PlanProblem[] => about(checked?.errors ?? [], id);
export const warningsOf = (checked: CheckedPlan | null, id: string): PlanProblem[] => about(checked?.warnings ?? [], id);

/**
 * Why rows cannot enter a part at a place: what was said of this input, or of the part, if it
 * cannot do anything with the columns that come.
 */
export function reasonAt(checked: CheckedPlan | null, part: Part, place: number): PlanProblem | null {
  const errors = errorsOf(checked, part.id);
  const isHere = errors.find((error) => error.input === numberOf(part, place));
  if (isHere) return isHere;
  const comes = columnsOf(checked, part.inputs[place] ?? null) !== null;
  const isWrong = comes && nodeOf(checked, part.id)?.state === "wrong";
  return (isWrong && errors.find((error) => error.input === null || error.input === undefined)) || null;
}
