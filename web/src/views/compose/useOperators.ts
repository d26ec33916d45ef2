import { useEffect, useState } from "react";
import { get, Refused } from "../../api/client";
import type { Problem } from "../../api/types";
import type { Level, Operator } from "./model/contract";

const NONE: ReadonlyMap<string, Operator> = new Map();

/** The operators of a level, by kind. */
export function useOperators(level: Level): { operators: ReadonlyMap<string, Operator>; problem: Problem | null } {
  const [known, setKnown] = useState<Partial<Record<Level, ReadonlyMap<string, Operator>>>>({});
  const [problem, setProblem] = useState<Problem | null>(null);
  const isKnown = known[level] !== undefined;
  useEffect(() => {
    if (isKnown) return;
    const stop = new AbortController();
    get<{ operators: Operator[] }>(`compose/operators?level=${level}`, stop.signal)
      .then(({ operators: found }) => {
        setKnown((old) => ({ ...old, [level]: new Map(found.map((each) => [each.kind, each])) }));
        setProblem(null);
      })
      .catch((error) => error instanceof Refused && setProblem(error.problem));
    return () => stop.abort();
  }, [level, isKnown]);
  return { operators: known[level] ?? NONE, problem };
}
