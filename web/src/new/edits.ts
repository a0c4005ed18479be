import type { Finding } from "../answers";

/** The text after the fix of one problem. Lines and columns count from 1, columns in characters. */
export function fixed(text: string, edits: NonNullable<Finding["edits"]>): string {
  const lines = text.split("\n").map((line) => Array.from(line));
  const starts: number[] = [];
  lines.reduce((start, line, index) => {
    starts[index] = start;
    return start + line.length + 1;
  }, 0);
  const characters = Array.from(text);
  const place = (line: number, column: number) => (starts[line - 1] ?? characters.length) + column - 1;
  const fromTheEnd = edits.toSorted((a, b) => b.line - a.line || b.column - a.column);
  for (const edit of fromTheEnd) {
    const start = place(edit.line, edit.column);
    characters.splice(start, place(edit.endLine, edit.endColumn) - start, ...Array.from(edit.text));
  }
  return characters.join("");
}
