/** The editor in the colours of the page, which tokens.css defines. */
import { EditorView } from "@codemirror/view";

/** A browser that replaces text keeps the old background colour in a `style` attribute, which the page's policy refuses. */
const behindText = (colour: string) => ({ backgroundColor: "transparent", backgroundImage: `linear-gradient(${colour}, ${colour})` });

export const THEME = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--surface)", fontSize: "13px", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", padding: ".4rem 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-3)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": behindText("color-mix(in srgb, var(--hair) 35%, transparent)"),
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 30%, transparent) !important",
  },
  "&.cm-focused .cm-matchingBracket": { ...behindText("var(--hair)"), outline: "1px solid var(--edge)" },
  ".cm-tooltip": { backgroundColor: "var(--sunken)", color: "var(--ink)", border: "1px solid var(--edge)", maxWidth: "40rem" },
  ".cm-diagnostic": { padding: ".4rem .7rem", whiteSpace: "pre-line", overflowWrap: "anywhere" },
  ".cm-diagnosticAction": {
    backgroundColor: "var(--accent)",
    color: "var(--surface)",
    font: "inherit",
    padding: ".1rem .6rem",
    borderRadius: "4px",
    marginLeft: ".6rem",
  },
  ".cm-packed": { color: "var(--ink-3)", border: "1px solid var(--edge)", borderRadius: "4px", padding: "0 .3rem" },
  ".cm-lintRange-error": { textDecoration: "underline wavy var(--fail)", backgroundImage: "none" },
  ".cm-lintRange-warning, .cm-lintRange-info": { textDecoration: "underline wavy var(--wait)", backgroundImage: "none" },
  ".cm-lint-marker": { content: "none", width: ".8em", height: ".8em", borderRadius: "50%" },
  ".cm-lint-marker-error": { backgroundColor: "var(--fail)" },
  ".cm-lint-marker-warning, .cm-lint-marker-info": { backgroundColor: "var(--wait)" },
});
