import { type ComponentChildren, Fragment } from "preact";
import { useState } from "preact/hooks";
import type { Finding } from "../answers";
import { PACKED, packedNote } from "../format";

/** Where a finding is: its line, from 1, and the characters of that line from and up to which it is marked, if they are known. */
export interface Place {
  line: number;
  from?: number;
  to?: number;
}

/** A finding that has a place in the text. */
interface Note {
  one: Finding;
  place: Place;
}

const GRAVEST = ["error", "warning", "hint"];

interface Props {
  label: string;
  text: string;
  findings: readonly Finding[];
  /** Undefined for a finding that has no place in this text. */
  placeOf: (finding: Finding) => Place | undefined;
}

/** A document in which each finding is marked at its place, and stands below its line. */
export function Marked({ label, text, findings, placeOf }: Props) {
  const [isWhole, showWhole] = useState(false);
  const lines = text.split("\n");
  const all = findings.flatMap((one) => {
    const place = placeOf(one);
    return place === undefined ? [] : [{ one, place }];
  });
  const room = String(lines.length).length;
  // What a line has no room for goes on beside its number, not below.
  const style = { paddingLeft: `${room + 2}ch`, textIndent: `-${room + 2}ch` };
  const shown = (part: string) => (isWhole ? part : folded(part));
  return (
    <>
      <pre class="preview" tabIndex={0} aria-label={label}>
        {lines.map((line, index) => {
          const notes = all.filter(({ place }) => place.line === index + 1);
          return (
            <span key={index} class="marked" style={style}>
              <span class="quiet" aria-hidden="true">{`${String(index + 1).padStart(room)}  `}</span>
              {notes.length === 0 ? shown(line) : withMarks(line, notes, shown)}
              {"\n"}
              {notes.map(({ one }, number) => (
                <span key={number} class={`found found-${one.severity}`}>
                  {`${one.severity} ${one.code}: ${one.message}\n`}
                </span>
              ))}
            </span>
          );
        })}
      </pre>
      {!isWhole && text.search(PACKED) >= 0 && (
        <button type="button" onClick={() => showWhole(true)}>
          Show the packed files
        </button>
      )}
    </>
  );
}

/** The line with a mark at each place; of places that cover one another the narrowest counts, and then the gravest. */
function withMarks(line: string, notes: readonly Note[], shown: (part: string) => ComponentChildren) {
  const characters = Array.from(line);
  const spans = notes
    .map(({ one: { severity }, place: { from = 0, to = Infinity } }) => ({ severity, from, to: Math.min(to, characters.length) }))
    .toSorted((a, b) => a.to - a.from - (b.to - b.from) || GRAVEST.indexOf(a.severity) - GRAVEST.indexOf(b.severity));
  const edges = [...new Set([0, ...spans.flatMap(({ from, to }) => [from, to]), characters.length])].toSorted((a, b) => a - b);
  const parts: { text: string; span: (typeof spans)[number] | undefined }[] = [];
  for (const [index, start] of edges.entries()) {
    const text = characters.slice(start, edges[index + 1]).join("");
    const span = spans.find(({ from, to }) => from <= start && start < to);
    const last = parts.at(-1);
    if (last !== undefined && last.span === span) last.text += text;
    else if (text !== "") parts.push({ text, span });
  }
  return parts.map(({ text, span }, key) => {
    const part = shown(text);
    return span === undefined ? <Fragment key={key}>{part}</Fragment> : <mark key={key} class={`mark-${span.severity}`}>{part}</mark>;
  });
}

/** A text in which each long run of packed files is one note. */
function folded(text: string): ComponentChildren {
  const notes = (text.match(PACKED) ?? []).map((run) => packedNote(run.length));
  return text.split(PACKED).flatMap((part, index) => [
    part,
    notes[index] && (
      <span key={index} class="quiet">
        {notes[index]}
      </span>
    ),
  ]);
}
