import type { ReactNode } from "react";

/** Small signs, drawn in the colour of the text. */
function icon(drawing: ReactNode) {
  return () => (
    <svg
      className="q-icon"
      viewBox="0 0 16 16"
      width="16"
      height="16"
      aria-hidden
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {drawing}
    </svg>
  );
}

export const Play = icon(<path d="M5 3.2v9.6l7.6-4.8z" fill="currentColor" />);
export const Stop = icon(<rect x="4" y="4" width="8" height="8" rx="1" fill="currentColor" />);
export const Pause = icon(<path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2.4" />);
export const Bin = icon(<path d="M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M7 7v3.5M9 7v3.5" />);
export const Plus = icon(<path d="M8 3.5v9M3.5 8h9" />);
export const Chevron = icon(<path d="M6 3.5 10.5 8 6 12.5" />);
export const Download = icon(<path d="M8 2.5v7.5M4.8 7.2 8 10.4l3.2-3.2M3 13.5h10" />);
export const Out = icon(<path d="M6.5 3.5h-3v9h9v-3M9 3h4v4M13 3 7.5 8.5" />);
export const Push = icon(<path d="M8 11V3.5M4.8 6.4 8 3.2l3.2 3.2M3 13.5h10" />);
