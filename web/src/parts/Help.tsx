import type { ReactNode } from "react";
import type { Problem } from "../api/types";

/** Where there is nothing yet: what would be here, and how to get it. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** What went wrong, and what to do about it. */
export function Trouble({ problem }: { problem: Problem }) {
  const place = problem.line ? `line ${problem.line}, column ${problem.column}: ` : "";
  return (
    <div className="trouble" role="alert">
      <strong>
        {place}
        {problem.message}
      </strong>
      {problem.help && <p>{problem.help}</p>}
    </div>
  );
}
