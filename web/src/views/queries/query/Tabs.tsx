import type { KeyboardEvent, ReactNode } from "react";

interface Props<T extends string> {
  label: string;
  tabs: readonly T[];
  chosen: T;
  choose: (tab: T) => void;
  children: ReactNode;
}

/** Tabs that the arrow keys go along, and the panel of the chosen one. */
export function Tabs<T extends string>({ label, tabs, chosen, choose, children }: Props<T>) {
  const id = (tab: string) => `${label}-${tab}`.replaceAll(/\W+/g, "-");
  function moved(event: KeyboardEvent) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(chosen) + step + tabs.length) % tabs.length]!;
    choose(next);
    document.getElementById(id(next))?.focus();
  }
  return (
    <>
      <div role="tablist" aria-label={label} className="q-tabs" onKeyDown={moved}>
        {tabs.map((tab) => (
          <button
            key={tab}
            id={id(tab)}
            role="tab"
            aria-selected={tab === chosen}
            tabIndex={tab === chosen ? 0 : -1}
            aria-controls={`${id(tab)}-panel`}
            onClick={() => choose(tab)}
          >
            {tab}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id(chosen)}-panel`} aria-labelledby={id(chosen)} className="q-panel">
        {children}
      </div>
    </>
  );
}
