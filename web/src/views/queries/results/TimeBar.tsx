import { useState } from "react";
import { instant } from "../../../parts/format";
import { Pause, Play } from "../icons";
import { latest, type Known } from "./intervals";
import type { Window } from "./picture";
import { clock, day, parseInstant } from "./times";

interface Props {
  known: Known;
  /** The instant that is looked at; null follows the newest. */
  at: number | null;
  look: (at: number | null) => void;
  paused: boolean;
  pause: (paused: boolean) => void;
}

/** For which instant the table is true, and how to look at another. */
export function TimeBar({ known, at, look, paused, pause }: Props) {
  const shown = at ?? latest(known);
  const newest = at === null && shown !== null ? known.completeUntil : null;
  const open = shown !== null && known.completeUntil !== null && shown >= known.completeUntil;
  return (
    <div className="q-timebar">
      <p className="q-true numbers">
        {shown === null ? (
          <span className="quiet">nothing is known yet</span>
        ) : (
          <>
            {/* The answer is known up to an instant, but not at it. */}
            <strong>{newest !== null ? "true just before" : open ? "may still change at" : "true at"}</strong>
            <InstantField key={`${at}`} value={newest ?? shown} known={known} look={look} />
            <span className="quiet">
              {day(shown, known.domain)}
              {newest === null &&
                known.completeUntil !== null &&
                ` · complete until ${clock(known.completeUntil, known.domain)}`}
            </span>
          </>
        )}
      </p>
      <span className="q-fill" />
      <button
        className="q-small"
        onClick={() => look(null)}
        disabled={at === null && !paused}
        aria-label="Follow the newest"
      >
        Newest
      </button>
      <button className="q-small" aria-pressed={paused} onClick={() => pause(!paused)}>
        {paused ? <Play /> : <Pause />} {paused ? "Resume" : "Pause"}
      </button>
    </div>
  );
}

function InstantField({ value, known, look }: { value: number; known: Known; look: (at: number | null) => void }) {
  const [text, setText] = useState<string | null>(null);
  const found = text === null ? value : parseInstant(text, known.domain, value);
  return (
    <input
      className="q-instant numbers"
      aria-label="Instant"
      aria-invalid={found === null}
      title={instant(value, known.domain)}
      value={text ?? clock(value, known.domain)}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && found !== null) look(found);
        if (event.key === "Escape") setText(null);
      }}
      onBlur={() => {
        if (text !== null && found !== null) look(found);
        setText(null);
      }}
    />
  );
}

interface SliderProps {
  known: Known;
  window: Window;
  /** The newest instant that the window has; there, the slider follows what comes. */
  last: number | null;
  at: number | null;
  look: (at: number | null) => void;
}

/** Slides along the time that is drawn. */
export function TimeSlider({ known, window, last, at, look }: SliderProps) {
  const value = at ?? last ?? 1;
  return (
    <input
      type="range"
      className="q-slider"
      aria-label="Time"
      min={window.start}
      max={window.end}
      disabled={last === null}
      step={Math.max(1, Math.floor((window.end - window.start) / 1000))}
      value={value}
      aria-valuetext={instant(value, known.domain)}
      onChange={(event) =>
        look(last !== null && Number(event.target.value) >= last ? null : Number(event.target.value))
      }
    />
  );
}
