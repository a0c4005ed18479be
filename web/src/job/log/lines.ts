/** A part of a log as lines in blocks: a new line draws one block again and not all, and each block knows its bytes. */

export interface Block {
  /** Its number in the order of all blocks that are shown. */
  id: number;
  /** Its bytes in the file, the last not included. */
  start: number;
  end: number;
  lines: string[];
  /** The first byte of each line; pieces of one long line have the same. */
  starts: number[];
}

const BLOCK = 500;
/** The most lines of the part; further lines are dropped at its other end. */
export const MOST_LINES = 100_000;
/** Characters of one line; a longer one is shown in pieces, so that a file without line ends can be drawn, too. */
const LONGEST = 10_000;
/** Bytes of the part. */
const MOST_BYTES = 64 << 20;
/** Bytes at the beginning within which a line has to end, or it is shown without its beginning. */
const LONGEST_HEAD = 64 << 10;
const [LINE_END, BACK] = [10, 13];
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** The blocks of several files in the order in which they arrived: a block is at its end once another file's follows. */
export class Order {
  private first = 0;
  private next = 0;
  private last: Lines | undefined;

  /** The number of a new block of these lines, before or after all others. */
  number(lines: Lines, isBefore = false): number {
    if (isBefore) return (this.first -= 1);
    this.last = lines;
    return (this.next += 1);
  }

  /** Whether no other file has a block after theirs. */
  isLast(lines: Lines): boolean {
    return this.last === lines;
  }
}

export class Lines {
  readonly blocks: Block[] = [];
  /** Whether lines at the end were given up for earlier ones. */
  isCut = false;
  /** The beginning of the line that has not ended. */
  private rest = new Uint8Array();
  /** The end of the line before the first that is shown: its beginning was not read. */
  private head = new Uint8Array();

  /** Of a part that begins at this byte. */
  constructor(
    private first: number,
    private readonly order = new Order(),
  ) {}

  /** Where the lines begin. */
  get start(): number {
    return this.first;
  }

  /** Where they end, with the line that has not ended. */
  get end(): number {
    return (this.blocks.at(-1)?.end ?? this.first + this.head.length) + this.rest.length;
  }

  get count(): number {
    return this.blocks.reduce((sum, block) => sum + block.lines.length, 0);
  }

  /** Where the line begins that has not ended. */
  get lastStart(): number {
    return this.end - this.rest.length;
  }

  /** What was read of the line that has not ended. */
  get last(): string {
    return overwritten(DECODER.decode(this.rest));
  }

  /** Add what follows. */
  append(data: Uint8Array): void {
    let bytes = joined(this.rest, data);
    if (this.blocks.length === 0 && this.head.length === 0 && this.first > 0) {
      this.head = headOf(bytes);
      bytes = bytes.subarray(this.head.length);
    }
    const whole = bytes.lastIndexOf(LINE_END) + 1;
    this.add(bytes.subarray(0, whole));
    this.rest = this.shortened(bytes.slice(whole));
    while (this.count > MOST_LINES || this.held > MOST_BYTES) {
      this.first = this.blocks.shift()?.end ?? this.first;
      this.head = new Uint8Array();
    }
  }

  /** Add what is before the first byte. */
  prepend(data: Uint8Array): void {
    const start = this.first - data.length;
    const bytes = joined(data, this.head);
    this.head = start === 0 ? new Uint8Array() : headOf(bytes);
    this.first = start;
    const blocks = this.blocksOf(bytes.subarray(this.head.length), start + this.head.length);
    for (const block of blocks.toReversed()) block.id = this.order.number(this, true);
    this.blocks.unshift(...blocks);
    while (this.count > MOST_LINES || this.held > MOST_BYTES) {
      this.blocks.pop();
      this.rest = new Uint8Array();
      this.isCut = true;
    }
  }

  private get held(): number {
    return this.end - this.first;
  }

  private add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const last = this.blocks.at(-1);
    const block = this.order.isLast(this) ? last : undefined;
    const start = last?.end ?? this.first + this.head.length;
    const [next, ...others] = this.blocksOf(bytes, start, BLOCK - (block?.lines.length ?? 0));
    if (block && next && block.lines.length + next.lines.length <= BLOCK) {
      block.lines.push(...next.lines);
      block.starts.push(...next.starts);
      block.end = next.end;
    } else if (next) others.unshift(next);
    for (const one of others) one.id = this.order.number(this);
    this.blocks.push(...others);
  }

  /** Blocks of whole lines; the first has at most as many lines as asked for. */
  private blocksOf(bytes: Uint8Array, at: number, most = BLOCK): Block[] {
    const blocks: Block[] = [];
    for (let start = 0; start < bytes.length; ) {
      const room = blocks.length === 0 && most > 0 ? most : BLOCK;
      let end = start;
      const begins: number[] = [];
      for (let line = 0; line < room && end < bytes.length; line += 1) {
        begins.push(at + end);
        end = bytes.indexOf(LINE_END, end) + 1 || bytes.length;
      }
      const text = DECODER.decode(bytes.subarray(start, end));
      const [lines, starts]: [string[], number[]] = [[], []];
      for (const [index, line] of (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n").entries()) {
        for (const piece of pieces(line)) {
          lines.push(piece);
          starts.push(begins[index] ?? at + start);
        }
      }
      blocks.push({ id: 0, start: at + start, end: at + end, lines, starts });
      start = end;
    }
    return blocks;
  }

  /** The part of a long line that a terminal shows; finished parts become lines. */
  private shortened(rest: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    if (rest.length <= LONGEST) return rest;
    const back = rest.lastIndexOf(BACK, rest.length - 2);
    let cut = back >= 0 ? back + 1 : rest.length - (rest.length % LONGEST);
    while (back < 0 && cut > 0 && ((rest[cut] ?? 0) & 0xc0) === 0x80) cut -= 1; // within a character
    if (back < 0) this.add(rest.subarray(0, cut));
    else this.skip(cut);
    return rest.slice(cut);
  }

  /** Count bytes that show nothing as part of the last block. */
  private skip(bytes: number): void {
    const start = this.first + this.head.length;
    if (this.blocks.length === 0) this.blocks.push({ id: this.order.number(this), start, end: start, lines: [], starts: [] });
    const block = this.blocks.at(-1);
    if (block) block.end += bytes;
  }
}

/** The end of the line that began before. */
function headOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const end = bytes.indexOf(LINE_END) + 1;
  return bytes.slice(0, end <= LONGEST_HEAD ? end : 0);
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}

function pieces(line: string): string[] {
  const shown = overwritten(line);
  if (shown.length <= LONGEST) return [shown];
  return Array.from({ length: Math.ceil(shown.length / LONGEST) }, (_, index) => shown.slice(index * LONGEST, (index + 1) * LONGEST));
}

/** A line as a terminal shows it in the end: a progress bar writes over itself. */
function overwritten(line: string): string {
  const trimmed = line.replace(/\r+$/, "");
  return trimmed.slice(trimmed.lastIndexOf("\r") + 1);
}
