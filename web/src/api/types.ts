// What the server says, as `docs/server.md` describes it. Instants are integers: ticks, or
// microseconds since 1970 where the domain is "microseconds". An open end is null.

export type Domain = "ticks" | "microseconds" | null;

export interface Column {
  name: string;
  type: string;
}

export type Value = string | number | boolean | null | Value[] | { [name: string]: Value };

export interface Table {
  columns: Column[];
  domain: Domain;
  rows: Value[][];
  valid_from: number[];
  valid_to: (number | null)[];
  truncated: boolean;
  complete_until: number | null;
}

export interface Problem {
  message: string;
  line?: number | null;
  column?: number | null;
  length?: number | null;
  help?: string | null;
  kind?: string;
}

export interface Checked {
  statements: { kind: string; name: string | null; start: number; end: number }[];
  errors: Problem[];
  warnings: Problem[];
}

/** What a statement did. */
export interface Ran {
  kind: string;
  name: string | null;
  message: string;
}

export interface Info {
  version: string;
  runtime: string;
  every: string | null;
  ticks: number;
  uptime: number;
  demo: boolean;
  limits: Record<string, number>;
  allow: string[];
  authenticated: boolean;
}

export interface SourceEntry {
  name: string;
  columns: Column[];
  time?: string | null;
  domain?: Domain;
  slack?: number;
  pushed?: boolean;
  used_by: string[];
  sql: string | null;
  rows?: number | null;
  late_rows?: number;
  watermark?: number | null;
  rate?: number;
}

export interface Catalog {
  streams: SourceEntry[];
  relations: SourceEntry[];
  derived: SourceEntry[];
}

export interface MigrationState {
  query: string;
  split: number;
  domain: Domain;
  time_left: number;
  old_rows: number;
  old_nodes: number[];
  new_nodes: number[];
  phase: string;
}

export interface QueryEntry {
  name: string;
  state: "running" | "stopped" | "failed";
  error: string | null;
  sql: string;
  columns: Column[];
  domain: Domain;
  complete_from: number | null;
  rows_out: number;
  depends_on: string[];
  sink: string;
  started: boolean;
  sizes: Record<string, [number, number][]>;
  migration: { split: number; time_left: number; old_rows: number } | null;
}

export interface QueryProgress {
  ticks: number;
  rows_in: number;
  rows_out: number;
  late_rows: number;
  seconds: number;
  sources: Record<string, { rows: number; late_rows: number; watermark: number | null }>;
  operators: { operator: string; rows_in: number; rows_out: number; state_rows: number; state_bytes: number }[];
}

export interface Cost {
  rate: number;
  live_rows: number;
  cpu: number;
  state_rows: number;
  state_bytes: number;
}

export interface PlanNode {
  operator: string;
  details: string;
  columns: Column[];
  cost: Cost | null;
  inputs: PlanNode[];
}

export interface PlanReport {
  sql: string;
  columns: Column[];
  domain: Domain;
  warnings: Problem[];
  plans: { logical: PlanNode; optimized: PlanNode; physical: PlanNode };
  texts: { fragments: string; cost: string; verbose: string };
  rules: { name: string; summary: string; before?: PlanNode | null; after: PlanNode }[];
  total: Partial<Cost> | null;
}

export interface GraphNode {
  id: number;
  operator: string;
  details: string;
  inputs: number[];
  queries: string[];
  role: "source" | "operator" | "hand_over";
  window: number | null;
  granularity: number | null;
}

export interface Measures {
  tick: number;
  at: number;
  id: number[];
  input_rate: number[];
  output_rate: number[];
  selectivity: (number | null)[];
  rows_in: number[];
  rows_out: number[];
  state_rows: number[];
  state_bytes: number[];
  seconds: number[];
  watermark: (number | null)[];
  window: (number | null)[];
  granularity: (number | null)[];
}

export interface Graph {
  revision: number;
  tick: number;
  nodes: GraphNode[];
  roots: { query: string; node: number }[];
  measures: Measures;
  migrations: MigrationState[];
}

export type NodeHistory = { at: number[] } & Record<string, (number | null)[]>;

export interface Happening {
  at: number;
  tick: number;
  kind: string;
  query: string | null;
  text: string;
  instant?: number | null;
}

export interface Resources {
  bounds: { memory: number | null; cpu: number | null };
  now: { memory: number; estimated_memory: number | null; cpu: number; estimated_cpu: number | null };
  history: { at: number[]; memory: number[]; estimated_memory: (number | null)[]; cpu: number[]; estimated_cpu: (number | null)[] };
  knobs: { name: string; kind: string; size: number; lower: number | null; upper: number | null; queries: string[] }[];
  events: Happening[];
}

export interface NewResults extends Table {
  reset: boolean;
}
