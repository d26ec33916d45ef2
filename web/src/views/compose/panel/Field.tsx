import { useId } from "react";
import type { Column } from "../../../api/types";
import type { PlanProblem, Setting, SettingForm } from "../model/contract";
import { useComposing } from "../useComposing";
import { ExpressionField } from "./ExpressionField";
import { ListField } from "./ListField";
import { Said } from "./Said";
import { wordsFor } from "./words";

export interface FieldProps {
  form: SettingForm;
  value: Setting | undefined;
  /** The columns of the inputs. */
  columns: readonly Column[];
  problem: PlanProblem | null;
  change: (value: Setting) => void;
}

const LISTS = new Set(["columns", "order", "aggregates"]);

/** A setting of an operator, in the form that its type asks for, with what is wrong with it. */
export function Field(props: FieldProps) {
  const { form, problem } = props;
  const id = useId();
  return (
    <div className={`field${problem ? " bad" : ""}`}>
      <label htmlFor={id}>
        {form.title}
        {!form.required && <span className="optional">optional</span>}
      </label>
      {LISTS.has(form.type) ? <ListField {...props} /> : <Single {...props} id={id} />}
      {problem ? <Said problem={problem} /> : <p className="aside">{form.help}</p>}
    </div>
  );
}

function Single({ form, value, columns, problem, change, id }: FieldProps & { id: string }) {
  const text = value === null || value === undefined ? "" : String(value);
  const usual = {
    id,
    value: text,
    "aria-invalid": problem !== null,
    onChange: (event: { target: { value: string } }) => change(event.target.value),
  };
  switch (form.type) {
    case "condition":
      return (
        <ExpressionField
          label={form.title}
          value={text}
          example={form.example}
          words={wordsFor(form, columns)}
          problem={problem}
          change={change}
        />
      );
    case "source":
      return <SourceChooser {...usual} />;
    case "choice":
      return (
        <select {...usual}>
          {form.default === null && <option value="">as is best</option>}
          {form.choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      );
    case "integer":
    case "number":
      return <input {...usual} inputMode="decimal" placeholder={form.example} />;
    case "duration":
      return (
        <>
          <input {...usual} list={`${id}-lengths`} placeholder={form.example} />
          <datalist id={`${id}-lengths`}>
            {LENGTHS.map((length) => (
              <option key={length} value={length} />
            ))}
          </datalist>
        </>
      );
    default:
      return <input {...usual} placeholder={form.example} />;
  }
}

const LENGTHS = ["10 SECONDS", "1 MINUTE", "5 MINUTES", "1 HOUR", "1 DAY", "UNBOUNDED"];
const KINDS = { streams: "Streams", relations: "Relations", derived: "Derived streams" } as const;

function SourceChooser(usual: { id: string; value: string; onChange: (event: { target: { value: string } }) => void }) {
  const { catalog } = useComposing();
  const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
  const groups = kinds.map((kind) => [KINDS[kind], catalog?.[kind] ?? []] as const);
  const known = groups.some(([, entries]) => entries.some((entry) => entry.name === usual.value));
  return (
    <select {...usual}>
      {!usual.value && <option value="">choose…</option>}
      {usual.value && !known && <option>{usual.value}</option>}
      {groups
        .filter(([, entries]) => entries.length > 0)
        .map(([title, entries]) => (
          <optgroup key={title} label={title}>
            {entries.map((entry) => (
              <option key={entry.name}>{entry.name}</option>
            ))}
          </optgroup>
        ))}
    </select>
  );
}
