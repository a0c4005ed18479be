/** Light, dark, or as the reader's system is: the choice outlives the tab, and is all that does besides a scope. */
const PLACE = "slipway-theme";
const CHANGED = "slipway-theme-changed";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const DARK = window.matchMedia("(prefers-color-scheme: dark)");

export function theme(): Theme {
  const chosen = localStorage.getItem(PLACE);
  return THEMES.find((one) => one === chosen) ?? "system";
}

/** Whether the page is dark now. */
export function isDark(): boolean {
  const one = theme();
  return one === "system" ? DARK.matches : one === "dark";
}

/** Show the page in the theme that the reader has chosen. */
export function applyTheme(): void {
  const one = theme();
  if (one === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = one;
}

export function chooseTheme(one: Theme): void {
  if (one === "system") localStorage.removeItem(PLACE);
  else localStorage.setItem(PLACE, one);
  applyTheme();
  window.dispatchEvent(new Event(CHANGED));
}

/** Called whenever the page turns light or dark. Returns how to stop that. */
export function onTheme(act: () => void): () => void {
  const ends = new AbortController();
  window.addEventListener(CHANGED, act, { signal: ends.signal });
  DARK.addEventListener("change", act, { signal: ends.signal });
  return () => ends.abort();
}
