import { inputsFirst } from "./layout";
import { itemsOf, type Drawn } from "./picture";

/**
 * Who comes instead of whom. A size that is changed makes a part, and all that stand on it, other
 * parts with other numbers; for people they are the same. An heir does the same for the same queries,
 * and reads the same or its heirs. Gives the one that has gone, by the one that has come.
 */
export function heirs(before: Drawn[], after: Drawn[]): Map<string, string> {
  const [known, now] = [new Set(before.map((each) => each.id)), new Map(after.map((each) => [each.id, each]))];
  const gone = new Map<string, string[]>();
  for (const each of before)
    if (!now.has(each.id)) {
      const sign = signOf(each, each.inputs);
      gone.set(sign, [...(gone.get(sign) ?? []), each.id]);
    }
  const found = new Map<string, string>();
  for (const { id } of gone.size > 0 ? inputsFirst(itemsOf(after)) : []) {
    const each = now.get(id)!;
    if (known.has(id)) continue;
    const heir = gone.get(signOf(each, each.inputs.map((input) => found.get(input) ?? input)))?.shift();
    if (heir !== undefined) found.set(id, heir);
  }
  return found;
}

const signOf = (each: Drawn, inputs: string[]): string =>
  each.type === "query" ? `${each.query} < ${inputs.join()}` : `${each.node.operator} ${each.node.queries.join()} < ${inputs.join()}`;
