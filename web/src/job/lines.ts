/** The lines of a log in blocks, so that a new line draws one block again and not all. */

export interface Block {
  id: number;
  lines: string[];
}

const BLOCK = 500;
/** Older lines are given up. */
export const MOST_LINES = 100_000;

export class Lines {
  readonly blocks: Block[] = [];
  /** How many lines were given up. */
  dropped = 0;
  private rest = "";
  private made = 0;

  /** Add what was read next; it may end within a line. */
  append(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.add(line);
    while (this.count > MOST_LINES) this.dropped += this.blocks.shift()?.lines.length ?? 0;
  }

  /** What was read of the line that has not ended. */
  get last(): string {
    return overwritten(this.rest);
  }

  get count(): number {
    return this.blocks.reduce((sum, block) => sum + block.lines.length, 0);
  }

  private add(line: string): void {
    let block = this.blocks.at(-1);
    if (block === undefined || block.lines.length >= BLOCK) {
      block = { id: (this.made += 1), lines: [] };
      this.blocks.push(block);
    }
    block.lines.push(overwritten(line));
  }
}

/** A line as a terminal shows it in the end: a progress bar writes over itself. */
function overwritten(line: string): string {
  const trimmed = line.endsWith("\r") ? line.slice(0, -1) : line;
  return trimmed.slice(trimmed.lastIndexOf("\r") + 1);
}
