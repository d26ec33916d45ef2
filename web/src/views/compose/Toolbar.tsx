import type { ReactNode } from "react";
import type { Level } from "./model/contract";
import { useComposing } from "./useComposing";

interface Props {
  canUndo: boolean;
  canRedo: boolean;
  switchTo: (level: Level) => void;
  arrange: () => void;
  fit: () => void;
  clear: () => void;
  duplicate: () => void;
  remove: () => void;
  children: ReactNode;
}

const LEVELS: { level: Level; title: string; summary: string }[] = [
  { level: "logical", title: "Logical", summary: "Say what is wanted; the optimizer decides how" },
  { level: "physical", title: "Physical", summary: "Decide how: the plan runs as it is drawn" },
];

const ICONS = {
  undo: "M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3",
  redo: "m15 14 5-5-5-5m5 5H10a6 6 0 0 0 0 12h3",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5m4-5v5",
  arrange: "M9 3h6v5H9zM3 16h6v5H3zm12 0h6v5h-6zM12 8v4m-6 4v-4h12v4",
  fit: "M4 9V4h5m6 0h5v5m0 6v5h-5m-6 0H4v-5",
  new: "M6 3h8l4 4v14H6zM12 10v7m-3.5-3.5h7",
};

/** What can be done with the plan as a whole, and with what is selected. */
export function Toolbar(props: Props) {
  const { draft, selected, dispatch } = useComposing();
  const nothing = selected.length === 0;
  return (
    <div className="toolbar" role="toolbar" aria-label="Plan">
      <div className="switch" role="radiogroup" aria-label="Level">
        {LEVELS.map(({ level, title, summary }) => (
          <button
            key={level}
            role="radio"
            aria-checked={draft.level === level}
            title={summary}
            onClick={() => props.switchTo(level)}
          >
            {title}
          </button>
        ))}
      </div>
      <div className="tools">
        <Tool name="Undo" path={ICONS.undo} keys="Ctrl+Z" off={!props.canUndo} act={() => dispatch({ type: "undo" })} />
        <Tool name="Redo" path={ICONS.redo} keys="Ctrl+Y" off={!props.canRedo} act={() => dispatch({ type: "redo" })} />
        <Tool name="Duplicate" path={ICONS.copy} keys="Ctrl+D" off={nothing} act={props.duplicate} />
        <Tool name="Delete" path={ICONS.trash} keys="Delete" off={nothing} act={props.remove} />
        <Tool name="Arrange" path={ICONS.arrange} off={draft.parts.length < 2} act={props.arrange} />
        <Tool name="Fit" path={ICONS.fit} off={draft.parts.length === 0} act={props.fit} />
        <Tool name="New" path={ICONS.new} off={draft.parts.length === 0} act={props.clear} />
      </div>
      {props.children}
    </div>
  );
}

interface ToolProps {
  name: string;
  path: string;
  keys?: string;
  off: boolean;
  act: () => void;
}

function Tool({ name, path, keys, off, act }: ToolProps) {
  return (
    <button className="tool" aria-label={name} title={keys ? `${name} (${keys})` : name} disabled={off} onClick={act}>
      <svg viewBox="0 0 24 24" aria-hidden>
        <path d={path} />
      </svg>
    </button>
  );
}
