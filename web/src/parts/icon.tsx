/** Signs as shapes of SVG, taken from lucide when the page is built: every system draws them alike. */
import type { IconNode } from "lucide";
import { Ban, Check, CircleHelp, CircleX, Clock, Play, Square, TriangleAlert } from "lucide";
import { h } from "preact";

interface Props {
  of: IconNode;
  /** Pixels. */
  size?: number;
  class?: string;
}

/** A sign beside a word that says the same. */
export function Icon({ of, size = 16, class: classes = "" }: Props) {
  return (
    <svg class={`icon ${classes}`} width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      {of.map(([tag, attributes], index) => h(tag, { key: index, ...attributes }))}
    </svg>
  );
}

/** What a state means to the reader: the ending of its classes. */
export type Meaning = "run" | "wait" | "stuck" | "fail" | "good" | "gone";

const MEANINGS = new Map<string, Meaning>(
  Object.entries({ running: "run", succeeded: "good", failed: "fail", rejected: "fail", lost: "fail", cancelled: "gone", stuck: "stuck" }),
);
const SIGNS: Record<Meaning, IconNode> = { run: Play, wait: Clock, stuck: TriangleAlert, fail: CircleX, good: Check, gone: Square };
/** Those that differ from others of their meaning. */
const OWN_SIGNS = new Map(Object.entries({ rejected: Ban, lost: CircleHelp }));

export function meaningOf(state: string): Meaning {
  return MEANINGS.get(state) ?? "wait";
}

/** The sign of a state, in its colour. */
export function Sign({ of, size = 14 }: { of: string; size?: number }) {
  const meaning = meaningOf(of);
  const own = OWN_SIGNS.get(of);
  return <Icon of={own ?? SIGNS[meaning]} size={size} class={own ? `is-${meaning}` : `is-${meaning} sign-${meaning}`} />;
}
