import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Finding } from "../answers";
import { PACKED, packedNote } from "../format";

/** Where a finding is: its line, from 1, and the characters of that line from and up to which it is marked, if they are known. */
export interface Place {
  line: number;
  from?: number;
  to?: number;
}

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
  const places = findings.map((one) => ({ one, place: placeOf(one) }));
  const room = String(lines.length).length;
  // What a line has no room for goes on beside its number, not below.
  const style = { paddingLeft: `${room + 2}ch`, textIndent: `-${room + 2}ch` };
  const shown = (part: string) => (isWhole ? part : folded(part));
  return (
    <>
      <pre class="preview" tabIndex={0} aria-label={label}>
        {lines.map((line, index) => {
          const notes = places.filter(({ place }) => place?.line === index + 1);
          return (
            <span key={index} class="marked" style={style}>
              <span class="quiet" aria-hidden="true">{`${String(index + 1).padStart(room)}  `}</span>
              {notes[0]?.place === undefined ? shown(line) : withMark(line, notes[0].place, notes[0].one.severity, shown)}
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

function withMark(line: string, { from = 0, to = Infinity }: Place, severity: string, shown: (part: string) => ComponentChildren) {
  const characters = Array.from(line);
  const part = (start: number, end: number) => characters.slice(start, end).join("");
  return (
    <>
      {shown(part(0, from))}
      <mark class={`mark-${severity}`}>{shown(part(from, to))}</mark>
      {shown(part(Math.max(from, Math.min(to, characters.length)), characters.length))}
    </>
  );
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
