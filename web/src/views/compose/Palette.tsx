import { useMemo, useState, type PointerEvent } from "react";
import { Glyph } from "./Glyph";
import { grouped, offers } from "./model/offers";
import { useComposing } from "./useComposing";
import type { Offer } from "./useDrag";

interface Props {
  take: (offer: Offer) => void;
  drag: (event: PointerEvent, offer: Offer) => void;
}

/** What a plan can be made of: drag onto the canvas, or press to go on from what is selected. */
export function Palette({ take, drag }: Props) {
  const { operators, catalog } = useComposing();
  const [wanted, setWanted] = useState("");
  const groups = useMemo(() => grouped(offers(operators, catalog), wanted), [operators, catalog, wanted]);
  return (
    <section className="palette" aria-label="Operators">
      <input
        type="search"
        placeholder="Find an operator"
        aria-label="Find an operator"
        value={wanted}
        onChange={(event) => setWanted(event.target.value)}
      />
      <div className="groups">
        {groups.map(([group, found]) => (
          <div key={group} role="group" aria-label={group}>
            <h3>{group}</h3>
            {found.map((offer) => (
              <button
                key={offer.title}
                className="offer"
                aria-label={offer.title}
                title={offer.operator.summary}
                onPointerDown={(event) => drag(event, offer)}
                onClick={() => take(offer)}
              >
                <Glyph operator={offer.operator} />
                <span className="name">{offer.title}</span>
              </button>
            ))}
          </div>
        ))}
        {groups.length === 0 && <p className="quiet">No match.</p>}
      </div>
    </section>
  );
}
