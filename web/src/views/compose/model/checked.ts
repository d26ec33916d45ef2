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

export const errorsOf = (checked: CheckedPlan | null, id: string): PlanProblem[] =>
  about(checked?.errors ?? [], id);
export const warningsOf = (checked: CheckedPlan | null, id: string): PlanProblem[] =>
  about(checked?.warnings ?? [], id);

/** What to mend: of every operator one thing, its first, at a time. */
export function firstErrors(errors: readonly PlanProblem[]): PlanProblem[] {
  return errors.filter((error, at) => !error.node || errors.findIndex((each) => each.node === error.node) === at);
}

/**
 * Why rows do not fit where they enter a part: what was said of this input, or of a place in a
 * setting, which cannot be computed from the columns that come. What is merely missing is no such
 * reason.
 */
export function reasonAt(checked: CheckedPlan | null, part: Part, place: number): PlanProblem | null {
  const errors = errorsOf(checked, part.id);
  const isHere = errors.find((error) => error.input === numberOf(part, place));
  const comes = columnsOf(checked, part.inputs[place] ?? null) !== null;
  return isHere ?? (comes ? errors.find((error) => error.setting && error.column) : undefined) ?? null;
}
