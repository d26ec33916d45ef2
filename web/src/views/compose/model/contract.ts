import type { Column, Domain, PlanNode, PlanReport, Problem } from "../../../api/types";

// What the server knows of composing: `docs/compose.md`.

export type Level = "logical" | "physical";
export type Setting = string | number | boolean | null | string[];
export type Settings = { [name: string]: Setting };

export interface ComposedNode {
  id: string;
  kind: string;
  settings: Settings;
  inputs: string[];
  x?: number;
  y?: number;
}

export interface Composed {
  level: Level;
  nodes: ComposedNode[];
  output: string | null;
}

export interface SettingForm {
  name: string;
  title: string;
  /** "columns", "order" and "aggregates" are lists of texts. */
  type:
    | "source" | "columns" | "condition" | "integer" | "number"
    | "duration" | "choice" | "text" | "order" | "aggregates";
  required: boolean;
  default: Setting;
  choices: string[];
  help: string;
  example: string;
}

export interface Operator {
  kind: string;
  title: string;
  group: string;
  summary: string;
  inputs: { min: number; max: number | null };
  settings: SettingForm[];
}

/** Something wrong with an operator, with one of its settings, or where rows enter it. */
export interface PlanProblem extends Problem {
  node?: string | null;
  setting?: string | null;
  input?: number | null;
}

export interface CheckedNode {
  id: string;
  /** A node waits while something is wrong with what it reads. */
  state: "right" | "wrong" | "waiting";
  columns: Column[] | null;
  domain: Domain;
  windowed: boolean;
}

/** Stages of a plan; one that has no counterpart at a stage is null there. */
export type Plans = { [stage in keyof PlanReport["plans"]]: PlanNode | null };

export interface CheckedPlan {
  level: Level;
  complete: boolean;
  output: string | null;
  columns: Column[] | null;
  domain: Domain;
  nodes: CheckedNode[];
  errors: PlanProblem[];
  warnings: PlanProblem[];
  sql: string | null;
  /** Why there is no SQL for a plan that is right. */
  sql_reason: string | null;
  /** How it would run; null while it is not complete. */
  plans: Plans | null;
}
