/** The lines of a log in blocks, so that a new line draws one block again and not all. */

export interface Block {
  id: number;
  lines: string[];
}

const BLOCK = 500;
/** Older lines are given up. */
export const MOST_LINES = 100_000;
/** Characters of one line; a longer one is shown in pieces, so that a file without line ends can be drawn, too. */
const LONGEST = 10_000;
/** Characters of all lines. */
const MOST_CHARACTERS = 64 << 20;

export class Lines {
  readonly blocks: Block[] = [];
  /** How many lines were given up. */
  dropped = 0;
  private rest = "";
  private made = 0;
  private characters = 0;

  /** Add what was read next; it may end within a line. */
  append(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.add(line);
    if (this.rest.length > LONGEST) this.rest = overwritten(this.rest) + (this.rest.endsWith("\r") ? "\r" : "");
    while (this.rest.length > LONGEST) {
      this.add(this.rest.slice(0, LONGEST));
      this.rest = this.rest.slice(LONGEST);
    }
    while (this.count > MOST_LINES || this.characters > MOST_CHARACTERS) this.drop();
  }

  /** What was read of the line that has not ended. */
  get last(): string {
    return overwritten(this.rest);
  }

  get count(): number {
    return this.blocks.reduce((sum, block) => sum + block.lines.length, 0);
  }

  private drop(): void {
    const lines = this.blocks.shift()?.lines ?? [];
    this.dropped += lines.length;
    for (const line of lines) this.characters -= line.length;
  }

  private add(line: string): void {
    const shown = overwritten(line);
    for (let start = 0; start === 0 || start < shown.length; start += LONGEST) this.put(shown.slice(start, start + LONGEST));
  }

  private put(line: string): void {
    let block = this.blocks.at(-1);
    if (block === undefined || block.lines.length >= BLOCK) {
      block = { id: (this.made += 1), lines: [] };
      this.blocks.push(block);
    }
    block.lines.push(line);
    this.characters += line.length;
  }
}

/** A line as a terminal shows it in the end: a progress bar writes over itself. */
function overwritten(line: string): string {
  const trimmed = line.endsWith("\r") ? line.slice(0, -1) : line;
  return trimmed.slice(trimmed.lastIndexOf("\r") + 1);
}
