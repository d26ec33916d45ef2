import type * as wire from "./wire";

// The page's words for what the server says; its shapes are in `wire.ts`.

export type {
  CheckedNode, Column, ComposedNode, Domain, GraphNode, Level, Measures, NewResults, NodeHistory,
  PlanNode, PlanReport, QueryEntry, QueryProgress, Table, Value,
} from "./wire";

/** What is wrong; the page has things to say itself, which have no place. */
export type Problem = Pick<wire.Problem, "message"> & Partial<wire.Problem>;

export type Checked = wire.ScriptCheck;
export type Ran = wire.StatementResult;
export type Info = wire.ServerInfo;
export type Catalog = wire.CatalogEntries;
export type Graph = wire.GraphReport;
export type MigrationState = wire.GraphMigration;
export type Happening = wire.EventEntry;
export type Resources = wire.ResourceReport;
export type Cost = wire.PlanCost;

/** A stream, a relation, or what is derived from them: what all have, and what some have. */
export type SourceEntry = Pick<wire.StreamEntry, "name" | "columns" | "used_by" | "sql"> &
  Partial<Omit<wire.StreamEntry, "rows"> & Pick<wire.RelationEntry, "rows">>;
