import type { Problem } from "../../../api/types";
import type * as wire from "../../../api/wire";

// What the server knows of composing: `docs/compose.md`.

export type { CheckedNode, ComposedNode, Level } from "../../../api/wire";

export type Setting = wire.SettingValue;
export type Settings = wire.ComposedNode["settings"];
export type Composed = wire.ComposedPlan;
export type SettingForm = wire.PaletteSetting;
export type Operator = wire.PaletteOperator;
export type Plans = wire.ComposedPlans;
export type CheckedPlan = wire.ComposeCheck;

/** Something wrong with an operator, with one of its settings, or where rows enter it. */
export type PlanProblem = Problem & Partial<Pick<wire.ComposeProblem, "node" | "setting" | "input">>;
