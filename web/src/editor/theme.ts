/** The editor in the colours of the page, which style.css defines. */
import { EditorView } from "@codemirror/view";

/** A browser that replaces text keeps the old background colour in a `style` attribute, which the page's policy refuses. */
const behindText = (colour: string) => ({ backgroundColor: "transparent", backgroundImage: `linear-gradient(${colour}, ${colour})` });

export const THEME = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--ground)", fontSize: "13px", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace', lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", padding: ".4rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--quiet)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": behindText("color-mix(in srgb, var(--faint) 35%, transparent)"),
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--link) 30%, transparent) !important",
  },
  "&.cm-focused .cm-matchingBracket": { ...behindText("var(--faint)"), outline: "1px solid var(--line)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)", maxWidth: "40rem" },
  ".cm-diagnostic": { padding: ".4rem .7rem", whiteSpace: "pre-line", overflowWrap: "anywhere" },
  ".cm-diagnosticAction": {
    backgroundColor: "var(--link)",
    color: "var(--ground)",
    font: "inherit",
    padding: ".1rem .6rem",
    borderRadius: "4px",
    marginLeft: ".6rem",
  },
  ".cm-packed": { color: "var(--quiet)", border: "1px solid var(--line)", borderRadius: "4px", padding: "0 .3rem" },
  ".cm-lintRange-error": { textDecoration: "underline wavy var(--bad)", backgroundImage: "none" },
  ".cm-lintRange-warning, .cm-lintRange-info": { textDecoration: "underline wavy var(--number)", backgroundImage: "none" },
  ".cm-lint-marker": { content: "none", width: ".8em", height: ".8em", borderRadius: "50%" },
  ".cm-lint-marker-error": { backgroundColor: "var(--bad)" },
  ".cm-lint-marker-warning, .cm-lint-marker-info": { backgroundColor: "var(--number)" },
});
