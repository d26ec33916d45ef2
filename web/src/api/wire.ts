// What a server says. Made by `python web/write_types.py` from src/tidemill/wire: change that.
//
// Instants are integers: ticks, or microseconds since 1970 where the domain is "microseconds". An
// open end is null.

export type Value = string | number | boolean | null | Value[] | { [name: string]: Value };

export type Domain = "ticks" | "microseconds" | null;
export type Level = "logical" | "physical";
export type SettingType = "source" | "columns" | "condition" | "integer" | "number" | "duration" | "choice" | "text" | "order" | "aggregates";
export type SettingValue = string | number | boolean | string[] | null;
export type EventKind = "start" | "stop" | "fail" | "adapt" | "migrate" | "migrated" | "refuse" | "late";

/** A column: its name, and its type as in SQL. */
export interface Column {
  name: string;
  type: string;
}

/** What is wrong, where in the text, and what to do about it. */
export interface Problem {
  message: string;
  line: number | null;
  column: number | null;
  length: number | null;
  help: string | null;
  kind: string;
}

/** The answer to a request that was not carried out; of a script, so many statements were
 * `done`; of a server that starts, how far it is. */
export interface Failure {
  error: Problem;
  done: number | null;
  progress: string | null;
}

/** The server and its limits. */
export interface ServerInfo {
  version: string;
  runtime: string;
  every: string;
  ticks: number;
  uptime: number;
  demo: boolean;
  limits: Record<string, number>;
  allow: string[];
  authenticated: boolean;
}

/** A query that was planned. */
export interface PlannedQuery {
  columns: Column[];
  domain: Domain;
  sql: string;
  warnings: Problem[];
}

/** What SHOW, DESCRIBE and EXPLAIN answer: a table of texts. */
export interface ReportTable {
  columns: string[];
  rows: string[][];
}

/** What one statement did. */
export interface StatementResult {
  kind: string;
  name: string | null;
  message: string;
  query: PlannedQuery | null;
  table: ReportTable | null;
}

/** What the statements of a script did. */
export interface ScriptResult {
  results: StatementResult[];
}

/** A statement, and where it stands in the text (offsets of characters). */
export interface StatementPlace {
  kind: string;
  name: string | null;
  start: number;
  end: number;
}

/** The statements of a text, and what is wrong with them. */
export interface ScriptCheck {
  statements: StatementPlace[];
  errors: Problem[];
  warnings: Problem[];
}

/** Rows, with the time in which each holds; an open end is null. */
export interface Table {
  columns: Column[];
  domain: Domain;
  rows: Value[][];
  valid_from: number[];
  valid_to: (number | null)[];
  truncated: boolean;
  complete_until: number | null;
}

/** Rows that hold at an instant. */
export interface SnapshotTable {
  columns: Column[];
  domain: Domain;
  rows: Value[][];
  valid_from: number[];
  valid_to: (number | null)[];
  truncated: boolean;
  complete_until: number | null;
  at: number | null;
}

/** Rows that came (+) and went (-), when, and where to go on reading. */
export interface ChangesTable {
  columns: Column[];
  domain: Domain;
  rows: Value[][];
  valid_from: number[];
  valid_to: (number | null)[];
  truncated: boolean;
  complete_until: number | null;
  at: number[];
  change: ("+" | "-")[];
  cursor: number;
  missed: boolean;
}

/** Rows that are new to a client of the socket; with `reset`, it forgets those from before. */
export interface NewResults {
  columns: Column[];
  domain: Domain;
  rows: Value[][];
  valid_from: number[];
  valid_to: (number | null)[];
  truncated: boolean;
  complete_until: number | null;
  reset: boolean;
  cursor: number;
}

/** A stream: its columns, which of them is its time, and what was read of it. */
export interface StreamEntry {
  name: string;
  columns: Column[];
  time: string | null;
  domain: Domain;
  slack: number;
  pushed: boolean;
  used_by: string[];
  sql: string;
  rows: number;
  late_rows: number;
  watermark: number | null;
  rate: number;
}

/** A relation. */
export interface RelationEntry {
  name: string;
  columns: Column[];
  kind: string;
  domain: Domain;
  valid: (string | null)[] | null;
  rows: number | null;
  used_by: string[];
  sql: string;
}

/** A stream, relation or view that a query defines. */
export interface DerivedEntry {
  name: string;
  columns: Column[];
  kind: "stream" | "relation" | "view";
  domain: Domain;
  depends_on: string[];
  used_by: string[];
  sql: string;
}

/** Everything that queries can read. */
export interface CatalogEntries {
  streams: StreamEntry[];
  relations: RelationEntry[];
  derived: DerivedEntry[];
}

/** How many rows were taken, inserted or deleted. */
export interface TakenRows {
  rows: number;
}

/** The instant that a stream has come to. */
export interface Reached {
  at: number;
}

/** What is known of streams, relations and conditions, as text. */
export interface KnownStatistics {
  statistics: string;
}

/** A change of plan that goes on: when the new one takes over, and what is left. */
export interface MigrationLeft {
  split: number;
  time_left: number;
  old_rows: number;
}

/** A column by which the rows of an instant are shown in order. */
export interface OrderKey {
  column: string;
  descending: boolean;
  nulls_first: boolean;
}

/** A query: what it asks for, and what it is doing. */
export interface QueryEntry {
  name: string;
  state: "running" | "stopped" | "failed";
  error: string | null;
  sql: string;
  columns: Column[];
  order: OrderKey[];
  domain: Domain;
  depends_on: string[];
  sink: string;
  warnings: Problem[];
  complete_from: number | null;
  rows_out: number;
  started: boolean;
  sizes: Record<string, [number, number][]>;
  migration: MigrationLeft | null;
}

/** What was dropped. */
export interface DroppedQuery {
  name: string;
}

/** What was read of a source. */
export interface SourceRead {
  rows: number;
  late_rows: number;
  watermark: number | null;
}

/** What an operator of a query has done. */
export interface OperatorEntry {
  operator: string;
  rows_in: number;
  rows_out: number;
  state_rows: number;
  state_bytes: number;
  measures: Record<string, number>;
}

/** How far a query has come. */
export interface QueryProgress {
  ticks: number;
  rows_in: number;
  rows_out: number;
  late_rows: number;
  seconds: number;
  sources: Record<string, SourceRead>;
  operators: OperatorEntry[];
}

/** With which sizes results were computed: from when on, and the size. */
export interface SettingsInForce {
  settings: Record<string, [number, number][]>;
}

/** What is needed: seconds of a core per instant, and rows and bytes of state. */
export interface PlanUsage {
  cpu: number;
  state_rows: number;
  state_bytes: number;
}

/** What a part of a plan gives and needs. */
export interface PlanCost {
  cpu: number;
  state_rows: number;
  state_bytes: number;
  rate: number;
  live_rows: number;
}

/** A part of a plan. */
export interface PlanNode {
  operator: string;
  details: string;
  columns: Column[];
  cost: PlanCost | null;
  inputs: PlanNode[];
}

/** A plan as the query says it, after the rules, and as operators. */
export interface PlanLevels {
  logical: PlanNode;
  optimized: PlanNode;
  physical: PlanNode;
}

/** A rule that changed the plan. */
export interface RuleStep {
  name: string;
  summary: string;
  before: PlanNode | null;
  after: PlanNode;
}

/** Everything about the plan of a query; `lines` are those of explain, by level. */
export interface PlanReport {
  sql: string;
  columns: Column[];
  domain: Domain;
  warnings: Problem[];
  plans: PlanLevels;
  texts: Record<string, string>;
  lines: Record<string, PlanLine[]>;
  rules: RuleStep[];
  total: PlanUsage;
}

/** A part of the running graph. */
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

/** Where the answers of a query come from. */
export interface GraphRoot {
  query: string;
  node: number;
}

/** What parts do, one list for each measure. */
export interface Measured {
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

/** What all parts do, after a tick. */
export interface Measures {
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
  tick: number;
  at: number;
  id: number[];
}

/** What one part did, after each of the last ticks. */
export interface NodeHistory {
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
  at: number[];
}

/** A query on its way to another plan, and the parts of both. */
export interface GraphMigration {
  query: string;
  split: number;
  domain: Domain;
  time_left: number;
  old_rows: number;
  old_nodes: number[];
  new_nodes: number[];
  phase: string;
}

/** The whole running graph. */
export interface GraphReport {
  revision: number;
  tick: number;
  nodes: GraphNode[];
  roots: GraphRoot[];
  measures: Measures;
  migrations: GraphMigration[];
}

/** Bytes of memory and cores; null where there is no bound. */
export interface ResourceBounds {
  memory: number | null;
  cpu: number | null;
}

/** What is needed, as measured and as estimated. */
export interface Needed {
  memory: number;
  estimated_memory: number | null;
  cpu: number;
  estimated_cpu: number | null;
}

/** What was needed in the last minutes (milliseconds since 1970). */
export interface NeededHistory {
  at: number[];
  memory: number[];
  estimated_memory: (number | null)[];
  cpu: number[];
  estimated_cpu: (number | null)[];
}

/** A size of windows or granules that may be changed. */
export interface KnobEntry {
  name: string;
  kind: string;
  size: number;
  lower: number;
  upper: number;
  queries: string[];
}

/** Something that has happened. */
export interface EventEntry {
  at: number;
  tick: number;
  kind: EventKind;
  query: string | null;
  text: string;
  instant: number | null;
}

/** Bounds, what is needed, which sizes may be changed, and what has happened. */
export interface ResourceReport {
  bounds: ResourceBounds;
  now: Needed;
  history: NeededHistory;
  knobs: KnobEntry[];
  events: EventEntry[];
}

/** What has happened, the oldest first. */
export interface EventList {
  events: EventEntry[];
}

/** From which instant on which size counts, by knob. */
export interface Adapted {
  sizes: Record<string, [number, number]>;
}

/** A setting of an operator. */
export interface PaletteSetting {
  name: string;
  title: string;
  type: SettingType;
  required: boolean;
  default: SettingValue;
  choices: string[];
  help: string;
  example: string;
}

/** How many inputs an operator has. */
export interface InputRange {
  min: number;
  max: number;
}

/** An operator of the palette. */
export interface PaletteOperator {
  kind: string;
  title: string;
  group: string;
  summary: string;
  inputs: InputRange;
  settings: PaletteSetting[];
}

/** The operators of a level. */
export interface Palette {
  level: Level;
  operators: PaletteOperator[];
}

/** What is wrong with a node, one of its settings or inputs, or the whole plan. */
export interface ComposeProblem {
  message: string;
  help: string | null;
  node: string | null;
  setting: string | null;
  input: number | null;
  line: number | null;
  column: number | null;
  length: number | null;
}

/** What a node gives, if it is right. */
export interface CheckedNode {
  id: string;
  state: "right" | "wrong" | "waiting";
  columns: Column[] | null;
  domain: Domain;
  windowed: boolean;
}

/** The plans of a composed one; of a physical one that SQL cannot say, only that. */
export interface ComposedPlans {
  logical: PlanNode | null;
  optimized: PlanNode | null;
  physical: PlanNode;
}

/** What was found out about a composed plan, and what it means if it is right. */
export interface ComposeCheck {
  level: Level;
  complete: boolean;
  output: string | null;
  columns: Column[] | null;
  domain: Domain;
  nodes: CheckedNode[];
  errors: ComposeProblem[];
  warnings: ComposeProblem[];
  sql: string | null;
  sql_reason: string | null;
  plans: ComposedPlans | null;
  texts: Record<string, string> | null;
  rules: RuleStep[] | null;
  total: PlanUsage | null;
}

/** A composed plan that runs; a restart of the server knows it, too. */
export interface ComposeRun {
  query: QueryEntry;
  sql: string | null;
}

/** Operators, and which of them gives the answer; by default the only end. */
export interface ComposedPlan {
  level: Level;
  nodes: ComposedNode[];
  output: string | null;
}

/** An operator: its kind, its settings, and the ids of its inputs. */
export interface ComposedNode {
  id: string;
  kind: string;
  settings: Record<string, SettingValue>;
  inputs: string[];
  x: number;
  y: number;
}

/** An operator with its number and how deep it stands; without a number, words of their own.
 * `cells` are what stands beside it in a table. */
export interface PlanLine {
  operator: string;
  details: string;
  depth: number;
  number: number | null;
  cells: string[];
}
