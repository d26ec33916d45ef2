import { useEffect, useState } from "react";

type Theme = "system" | "light" | "dark";
const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };
const SIGN: Record<Theme, string> = { system: "◐", light: "○", dark: "●" };

function kept(): Theme {
  const value = localStorage.getItem("tidemill-theme");
  return value === "light" || value === "dark" ? value : "system";
}

/** Light, dark, or what the system says. */
export function ThemeButton() {
  const [theme, setTheme] = useState<Theme>(kept);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    localStorage.setItem("tidemill-theme", theme);
  }, [theme]);
  const words = `Colours: ${theme}`;
  return (
    <button className="ghost" onClick={() => setTheme(NEXT[theme])} aria-label={words} title={words}>
      {SIGN[theme]}
    </button>
  );
}
