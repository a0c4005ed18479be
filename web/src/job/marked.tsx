import type { Finding } from "../answers";

interface Props {
  label: string;
  text: string;
  findings: readonly Finding[];
  /** The line of a finding, from 1; undefined for one that has no place in this text. */
  lineOf: (finding: Finding) => number | undefined;
}

/** A document in which each finding stands below its line. */
export function Marked({ label, text, findings, lineOf }: Props) {
  const lines = text.split("\n");
  const places = findings.map((one) => ({ one, line: lineOf(one) }));
  const room = String(lines.length).length;
  // What a line has no room for goes on beside its number, not below.
  const style = { paddingLeft: `${room + 2}ch`, textIndent: `-${room + 2}ch` };
  return (
    <pre class="preview" tabIndex={0} aria-label={label}>
      {lines.map((line, index) => {
        const notes = places.filter(({ line: place }) => place === index + 1).map(({ one }) => one);
        return (
          <span key={index} class="marked" style={style}>
            <span class="quiet" aria-hidden="true">{`${String(index + 1).padStart(room)}  `}</span>
            {notes.length > 0 ? <mark class={`mark-${notes[0]?.severity}`}>{line}</mark> : line}
            {"\n"}
            {notes.map((one, number) => (
              <span key={number} class={`found found-${one.severity}`}>
                {`${one.severity} ${one.code}: ${one.message}\n`}
              </span>
            ))}
          </span>
        );
      })}
    </pre>
  );
}
