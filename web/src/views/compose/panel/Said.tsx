import type { PlanProblem } from "../model/contract";

/** What is wrong, or may not be meant, and what to do about it. */
export function Said({ problem, isWarning = false }: { problem: PlanProblem; isWarning?: boolean }) {
  return (
    <p className={isWarning ? "advice" : "wrong"} role={isWarning ? "note" : "alert"}>
      {problem.message}
      {problem.help && <span className="help">{problem.help}</span>}
    </p>
  );
}
