import { useEffect, useRef, type RefObject } from "react";
import { usersInWords, type Drawn } from "./picture";

interface Props {
  byId: Map<string, Drawn>;
  frame: RefObject<HTMLDivElement | null>;
  itemOf: (event: Event) => string | null;
  enter: (id: string | null) => void;
}

/** Names the queries of what is pointed at, or has the keyboard. */
export function Tip({ byId, frame, itemOf, enter }: Props) {
  const tip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const [element, box] = [tip.current!, frame.current!];
    let known: string | null = null;
    const turn = (id: string | null, event?: Event) => {
      if (id === known) return;
      known = id;
      enter(id);
      const each = byId.get(id ?? "");
      element.hidden = each?.type !== "part";
      if (each?.type === "part") place(element, rectOf(event!), box.getBoundingClientRect(), usersInWords(each.node.queries));
    };
    const show = (event: Event) => turn(itemOf(event), event);
    const hide = () => turn(null);
    const [shows, hides] = [["mousemove", "focusin"], ["mouseleave", "focusout", "wheel", "pointerdown"]];
    shows.forEach((name) => box.addEventListener(name, show));
    hides.forEach((name) => box.addEventListener(name, hide, { passive: true }));
    return () => {
      shows.forEach((name) => box.removeEventListener(name, show));
      hides.forEach((name) => box.removeEventListener(name, hide));
      enter(null);
    };
  }, [byId, frame, itemOf, enter]);
  return <div ref={tip} className="tip" role="tooltip" hidden />;
}

/** Where to name it: at its card, or at the mouse. */
function rectOf(event: Event): DOMRect {
  const card = (event.target as Element).closest<HTMLElement>("[data-item]");
  return card ? card.getBoundingClientRect() : new DOMRect((event as MouseEvent).clientX, (event as MouseEvent).clientY - 8, 1, 24);
}

function place(tip: HTMLElement, at: DOMRect, frame: DOMRect, words: string): void {
  tip.textContent = words;
  const left = Math.min(Math.max(at.left - frame.left, 8), frame.width - tip.offsetWidth - 8);
  const above = at.top - frame.top - tip.offsetHeight - 8;
  tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(above > 0 ? above : at.bottom - frame.top + 8)}px)`;
}
