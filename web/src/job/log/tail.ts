/** A log, from its end: new lines as they come, and earlier ones when the reader asks for them. */
import type { LogPart } from "../../answers";
import { type Block, Lines, Order } from "./lines";
import { readLast, readPart } from "../outputs/save";

/** Bytes that are read at once of what is before, of a file that may have gigabytes; and of its end. */
export const PART = 2 << 20;
const END = 1 << 18;

export class Tail {
  lines: Lines;
  /** Bytes of the file, as far as it is known. */
  size = 0;

  constructor(
    readonly name: string,
    private readonly id: string,
    private readonly attempt: string,
    private readonly order: Order,
  ) {
    this.lines = new Lines(0, order);
  }

  /** Whether it is standard error. */
  get isError(): boolean {
    return this.name.startsWith("stderr");
  }

  /** Add what came. Of lines that were given up for earlier ones nothing follows. */
  take(data: Uint8Array<ArrayBuffer>, start: number, size: number): void {
    this.size = Math.max(this.size, size);
    const { end, isCut } = this.lines;
    if (isCut || start + data.length <= end) return;
    if (start > end) this.lines = new Lines(start, this.order);
    this.lines.append(data.subarray(Math.max(0, end - start)));
  }

  /** Read what is before the lines that are known. */
  async earlier(): Promise<void> {
    const { lines } = this;
    const { start } = lines;
    if (start === 0) return;
    const { data } = await readPart(this.file, Math.max(0, start - PART), start - 1);
    if (lines === this.lines && start === lines.start) lines.prepend(data);
  }

  /** Read a part around a byte, unless it is here. */
  async around(byte: number): Promise<void> {
    if (byte >= this.lines.start) return;
    const start = Math.max(0, byte - PART / 2);
    const { data, size } = await readPart(this.file, start, start + PART - 1);
    this.size = Math.max(this.size, size);
    this.lines = new Lines(start, this.order);
    this.lines.append(data);
    this.lines.isCut = start + data.length < size;
  }

  /** Go to the end again. */
  async latest(): Promise<void> {
    const { data, start, size } = await readLast(this.file, END, new AbortController().signal);
    this.size = Math.max(this.size, size);
    this.lines = new Lines(start, this.order);
    this.lines.append(data);
  }

  private get file() {
    return { id: this.id, directory: "stdouterr", path: this.name, attempt: this.attempt };
  }
}

/** A block of one of several files. */
export interface Shown {
  block: Block;
  tail: Tail;
}

/** What one process writes: both of its streams, or one file. */
export class Tails {
  readonly all: Tail[] = [];
  /** Whether an answer has come for it. */
  isBegun = false;
  private readonly order = new Order();

  constructor(
    private readonly id: string,
    private readonly attempt: string,
  ) {}

  /** The bytes of an answer. */
  take({ file, start, size, data }: LogPart): void {
    let tail = this.all.find(({ name }) => name === file);
    if (tail === undefined) {
      tail = new Tail(file, this.id, this.attempt, this.order);
      this.all.push(tail);
    }
    tail.take(Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0)), start, size);
  }

  /** Bytes of all the files, of what is before the lines that are known, and of these. */
  get size(): number {
    return sum(this.all, (tail) => tail.size);
  }

  get start(): number {
    return sum(this.all, ({ lines }) => lines.start);
  }

  get held(): number {
    return sum(this.all, ({ lines }) => lines.end - lines.start);
  }

  get isCut(): boolean {
    return this.all.some(({ lines }) => lines.isCut);
  }

  /** In the order in which they came. */
  get blocks(): Shown[] {
    const blocks = this.all.flatMap((tail) => tail.lines.blocks.map((block) => ({ block, tail })));
    return this.all.length === 1 ? blocks : blocks.toSorted((one, other) => one.block.id - other.block.id);
  }

  async earlier(): Promise<void> {
    for (const tail of this.all) await tail.earlier();
  }

  async latest(): Promise<void> {
    for (const tail of this.all) if (tail.lines.isCut) await tail.latest();
  }
}

function sum(tails: readonly Tail[], count: (tail: Tail) => number): number {
  return tails.reduce((total, tail) => total + count(tail), 0);
}
