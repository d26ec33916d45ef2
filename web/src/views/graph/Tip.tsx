import { useEffect, useRef, type RefObject } from "react";
import type { Drawn } from "./picture";

const MOST_NAMES = 8;

/** Names the queries of the part that is pointed at, or has the keyboard. */
export function Tip({ byId, frame }: { byId: Map<string, Drawn>; frame: RefObject<HTMLDivElement | null> }) {
  const tip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const [element, box] = [tip.current!, frame.current!];
    const show = (event: Event) => {
      const card = (event.target as Element).closest<HTMLElement>(".part");
      const each = byId.get(card?.dataset.item ?? "");
      element.hidden = each?.type !== "part";
      if (card && each?.type === "part") place(element, card, box, wordsFor(each.node.queries));
    };
    const hide = () => void (element.hidden = true);
    const [shows, hides] = [["mouseover", "focusin"], ["mouseleave", "focusout", "wheel", "pointerdown"]];
    shows.forEach((name) => box.addEventListener(name, show));
    hides.forEach((name) => box.addEventListener(name, hide, { passive: true }));
    return () => {
      shows.forEach((name) => box.removeEventListener(name, show));
      hides.forEach((name) => box.removeEventListener(name, hide));
    };
  }, [byId, frame]);
  return <div ref={tip} className="tip" role="tooltip" hidden />;
}

function wordsFor(queries: string[]): string {
  const more = queries.length - MOST_NAMES;
  const names = queries.slice(0, MOST_NAMES).join(", ") + (more > 0 ? ` and ${more} more` : "");
  return queries.length > 1 ? `shared by ${queries.length} queries: ${names}` : `used by ${names || "no query"}`;
}

function place(tip: HTMLElement, card: HTMLElement, box: HTMLElement, words: string): void {
  const [at, frame] = [card.getBoundingClientRect(), box.getBoundingClientRect()];
  tip.textContent = words;
  const left = Math.min(Math.max(at.left - frame.left, 8), frame.width - tip.offsetWidth - 8);
  const above = at.top - frame.top - tip.offsetHeight - 8;
  tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(above > 0 ? above : at.bottom - frame.top + 8)}px)`;
}
