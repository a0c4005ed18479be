/** The lines of a log as rows: numbered, searched, and with lines of numbers folded. */
import { plain } from "./ansi";
import type { Block } from "./lines";
import type { Shown, Tail, Tails } from "./tail";

export interface Row {
  text: string;
  isError: boolean;
  /** The file, and the byte at which the line begins: the address of the line. */
  file: string;
  byte: number;
  /** From 1 on; 0 where the beginning of the file is not here. */
  number: number;
  /** How many lines of numbers this row stands for; 0 for a line. */
  folded: number;
}

/** What a job prints for its curves: `{"slipway": {…}}`. */
const NUMBERS = /^\s*\{\s*"slipway"\s*:.*\}\s*$/;

export interface Choice {
  streams: "both" | "stdout" | "stderr";
  search: string;
  isFolded: boolean;
  /** Folded rows that the reader has opened, by address. */
  opened: ReadonlySet<string>;
}

export function addressOf({ file, byte }: { file: string; byte: number }): string {
  return `${file}:${byte}`;
}

/** Makes the rows, and those of a block once. */
export class Rows {
  private cache = new Map<number, { count: number; rows: Row[] }>();
  private key = "";

  of(tails: Tails, choice: Choice): Row[] {
    const { streams, search, isFolded, opened } = choice;
    const key = JSON.stringify([streams, search, isFolded, [...opened]]);
    if (key !== this.key) this.cache.clear();
    this.key = key;
    const numbers = new Map<Tail, number>();
    const all: Row[] = [];
    for (const { block, tail } of tails.blocks) {
      const first = tail.lines.start === 0 ? (numbers.get(tail) ?? 1) : 0;
      numbers.set(tail, first + block.lines.length);
      if (fits(tail, streams)) all.push(...this.rowsOf({ block, tail }, first, choice));
    }
    for (const tail of tails.all.filter((one) => fits(one, streams) && one.lines.last !== "")) {
      const number = tail.lines.start === 0 ? (numbers.get(tail) ?? 1) : 0;
      all.push(...chosen([{ ...origin(tail), text: tail.lines.last, byte: tail.lines.lastStart, number, folded: 0 }], choice));
    }
    return all;
  }

  private rowsOf({ block, tail }: Shown, first: number, choice: Choice): Row[] {
    const cached = this.cache.get(block.id);
    if (cached?.count === block.lines.length && (cached.rows[0]?.number ?? 0) > 0 === first > 0) return cached.rows;
    const rows = chosen(linesOf(block, tail, first), choice);
    this.cache.set(block.id, { count: block.lines.length, rows });
    return rows;
  }
}

function linesOf(block: Block, tail: Tail, first: number): Row[] {
  return block.lines.map((text, index) => ({ ...origin(tail), text, byte: block.starts[index] ?? block.start, number: first && first + index, folded: 0 }));
}

function origin({ name, isError }: Tail): { file: string; isError: boolean } {
  return { file: name, isError };
}

function fits({ isError }: Tail, streams: Choice["streams"]): boolean {
  return streams === "both" || isError === (streams === "stderr");
}

/** Those with the words that are searched for; else with each run of lines of numbers as one row. */
function chosen(lines: Row[], { search, isFolded, opened }: Choice): Row[] {
  const words = search.toLowerCase();
  if (words !== "") return lines.filter(({ text }) => plain(text).toLowerCase().includes(words));
  if (!isFolded) return lines;
  const rows: Row[] = [];
  let start: Row | undefined;
  for (const line of lines) {
    if (!NUMBERS.test(line.text)) start = undefined;
    else if (start !== undefined) {
      start.folded += 1;
      if (!opened.has(addressOf(start))) continue;
    } else {
      start = { ...line, folded: 1 };
      rows.push(start);
      if (!opened.has(addressOf(start))) continue;
    }
    rows.push(line);
  }
  return rows;
}
