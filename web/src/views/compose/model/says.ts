import type { Operator, Setting, SettingForm } from "./contract";
import type { Part } from "./draft";

const MOST = 3;

/** What the settings of a part say, in few words; those left at their defaults say nothing. */
export function says(part: Part, operator: Operator | null): string {
  const told = (operator?.settings ?? []).flatMap((form) => {
    const value = part.settings[form.name];
    return isSet(value) && value !== form.default ? [word(form, value!)] : [];
  });
  return told.slice(0, MOST).join(" · ");
}

export const isSet = (value: Setting | undefined): boolean =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);

const ALONE = new Set(["source", "condition", "columns", "aggregates"]);

/** Conditions and lists speak for themselves; a number needs its name. */
function word(form: SettingForm, value: Setting): string {
  const text = Array.isArray(value) ? value.filter(Boolean).join(", ") : String(value);
  return ALONE.has(form.type) ? text : `${form.title.toLowerCase()} ${text}`;
}
