/** The places of findings as the editor counts them: units of UTF-16 from the start of the text. */
import type { Finding } from "../answers";

export type Edits = NonNullable<Finding["edits"]>;

export interface Change {
  from: number;
  to: number;
  insert: string;
}

/** Lines and columns count from 1, columns in characters. A place beyond its line is the end of the line. */
class Places {
  private readonly lines: string[];
  private readonly starts: number[] = [];

  constructor(text: string) {
    this.lines = text.split("\n");
    let start = 0;
    for (const line of this.lines) {
      this.starts.push(start);
      start += line.length + 1;
    }
  }

  at(line: number, column: number): number {
    const index = Math.min(Math.max(line, 1), this.lines.length) - 1;
    const before = Array.from(this.lines[index] ?? "").slice(0, Math.max(0, column - 1));
    return (this.starts[index] ?? 0) + before.join("").length;
  }
}

/** What a fix changes in the text. */
export function changes(text: string, edits: Edits): Change[] {
  const places = new Places(text);
  return edits.map((one) => ({ from: places.at(one.line, one.column), to: places.at(one.endLine, one.endColumn), insert: one.text }));
}

/** Where a finding is; undefined for one that has no place in this text. */
export function rangeOf(text: string, one: Finding): { from: number; to: number } | undefined {
  if (one.line === undefined) return undefined;
  const places = new Places(text);
  const from = places.at(one.line, one.column ?? 1);
  const to = one.endLine === undefined || one.endColumn === undefined ? from + 1 : places.at(one.endLine, one.endColumn);
  return { from, to: Math.min(text.length, Math.max(to, from)) };
}

/** The text after the fix of one problem. */
export function fixed(text: string, edits: Edits): string {
  return changes(text, edits)
    .toSorted((a, b) => b.from - a.from)
    .reduce((all, { from, to, insert }) => all.slice(0, from) + insert + all.slice(to), text);
}
