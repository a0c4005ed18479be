/** A document as text, and the line on which each of its values begins. */
export interface Written {
  text: string;
  /** By JSON pointer, from 1. */
  lines: ReadonlyMap<string, number>;
}

/** The text is that of `JSON.stringify` with an indentation of two. */
export function written(value: unknown): Written {
  const rows: string[] = [""];
  const lines = new Map<string, number>();
  const add = (part: unknown, pointer: string, indent: string) => {
    lines.set(pointer, rows.length);
    const isList = Array.isArray(part);
    const entries = typeof part === "object" && part !== null ? Object.entries(part) : [];
    if (entries.length === 0) {
      rows.push(`${rows.pop()}${JSON.stringify(part)}`);
      return;
    }
    rows.push(`${rows.pop()}${isList ? "[" : "{"}`);
    entries.forEach(([name, member], index) => {
      rows.push(`${indent}  ${isList ? "" : `${JSON.stringify(name)}: `}`);
      add(member, `${pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, `${indent}  `);
      if (index < entries.length - 1) rows.push(`${rows.pop()},`);
    });
    rows.push(`${indent}${isList ? "]" : "}"}`);
  };
  add(value, "", "");
  return { text: rows.join("\n"), lines };
}

/** The members of a message around the document that the pointers of its findings begin with. */
const AROUND = /^(\/data)?\/spec(?=\/|$)/;

/** The line of the value that a pointer names, or of what it would be a part of; undefined for none of this document. */
export function lineAt(lines: Written["lines"], pointer: string): number | undefined {
  for (let place = pointer.replace(AROUND, ""); place !== ""; place = place.slice(0, place.lastIndexOf("/"))) {
    const line = lines.get(place);
    if (line !== undefined) return line;
  }
  return undefined;
}
