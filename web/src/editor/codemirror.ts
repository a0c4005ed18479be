/** CodeMirror for a job.json. This module is a chunk of its own, which the browser loads with the first editor. */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { type Extension, StateField } from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
  WidgetType,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Finding } from "../answers";
import { PACKED, packedNote } from "../format";
import { changes, rangeOf } from "./places";
import { THEME } from "./theme";

export interface Editor {
  /** Replace the text where it differs; the writer can undo it. */
  put: (text: string) => void;
  /** Mark the problems of a text at their places; a mark offers the fix. Does nothing if the text has changed. */
  show: (findings: readonly Finding[], checked: string | undefined) => void;
  destroy: () => void;
}

interface Options {
  place: HTMLElement;
  text: string;
  label: string;
  onChange: (text: string) => void;
}

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--run)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--wait)" },
]);

/** Styles go into a shadow root, because the policy of the page allows no style elements in the document. */
export function createEditor({ place, text, label, onChange }: Options): Editor {
  const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
  const view = new EditorView({
    doc: text,
    root,
    parent: root,
    extensions: [
      ...ways(label),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) onChange(update.state.doc.toString());
      }),
    ],
  });
  return {
    put: (value) => {
      const old = view.state.doc.toString();
      if (value !== old) view.dispatch({ changes: { from: 0, to: old.length, insert: value } });
    },
    show: (findings, checked) => {
      if (checked !== view.state.doc.toString()) return;
      view.dispatch(setDiagnostics(view.state, marks(view, findings)));
    },
    destroy: () => view.destroy(),
  };
}

function ways(label: string): Extension[] {
  return [
    lineNumbers(),
    lintGutter(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    json(),
    syntaxHighlighting(COLOURS),
    folded,
    keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
    THEME,
  ];
}

function marks(view: EditorView, findings: readonly Finding[]): Diagnostic[] {
  const text = view.state.doc.toString();
  return findings.flatMap((one) => {
    const range = rangeOf(text, one);
    if (range === undefined) return [];
    const edits = one.edits ?? [];
    const apply = () => {
      if (view.state.doc.toString() === text) view.dispatch({ changes: changes(text, edits) });
    };
    const fix = { name: "Fix it", apply };
    const severity = one.severity === "hint" ? "info" : one.severity;
    return [{ ...range, severity, message: `${one.code} ${one.message}\n${one.remedy}`, actions: edits.length ? [fix] : [] }];
  });
}

class Packed extends WidgetType {
  constructor(readonly count: number) {
    super();
  }

  override eq(other: Packed): boolean {
    return other.count === this.count;
  }

  override toDOM(): HTMLElement {
    const mark = document.createElement("span");
    mark.className = "cm-packed";
    mark.textContent = packedNote(this.count);
    return mark;
  }
}

function packed(text: string): DecorationSet {
  const matches = [...text.matchAll(PACKED)];
  return Decoration.set(
    matches.map((match) => Decoration.replace({ widget: new Packed(match[0].length) }).range(match.index, match.index + match[0].length)),
  );
}

const folded = StateField.define<DecorationSet>({
  create: (state) => packed(state.doc.toString()),
  update: (marks, change) => (change.docChanged ? packed(change.newDoc.toString()) : marks),
  provide: (field) => [
    EditorView.decorations.from(field),
    EditorView.atomicRanges.of((view) => view.state.field(field)),
  ],
});
