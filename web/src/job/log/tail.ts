/** A log, read from its end: earlier lines when the reader asks for them, new lines as they are written. */
import { call, notOurs } from "../../api";
import { type Block, Lines, type Order } from "./lines";
import { readLast, readPart } from "../save";

/** Bytes that are read at once, of a file that may have gigabytes. */
export const PART = 2 << 20;

export class Tail {
  lines: Lines;
  /** Bytes of the file, as far as it is known. */
  size = 0;
  /** Whether the job may write more. */
  more = true;
  /** Whether it was read before. */
  isBegun = false;
  private next = 0;

  constructor(
    private readonly id: string,
    private readonly name: string,
    private readonly attempt: string,
    private readonly order: Order,
  ) {
    this.lines = new Lines(0, order);
  }

  /** Whether it is standard error. */
  get isError(): boolean {
    return this.name.startsWith("stderr");
  }

  /** Which part is here: the same text as long as nothing comes. */
  get place(): string {
    return `${this.lines.start}-${this.next}`;
  }

  /** Read what was written since; where that is much, only its end. */
  async read(signal: AbortSignal): Promise<void> {
    let [bytes, hasMore] = [0, !this.lines.isCut];
    const enough = this.isBegun ? PART : 1;
    while (hasMore && bytes < enough) {
      const query = { file: this.name, offset: String(this.next), attempt: this.attempt };
      const answer = await call(`jobs/${encodeURIComponent(this.id)}/log`, { query, signal });
      const data = new Uint8Array(await answer.arrayBuffer());
      if (signal.aborted) return;
      if (!answer.headers.has("slipway-next-offset")) throw notOurs("The answer is not part of a log");
      this.more = answer.headers.get("slipway-more") === "true";
      this.append(data, Number(answer.headers.get("slipway-next-offset")));
      bytes += data.length;
      hasMore = data.length > 0 && this.more;
    }
    if (hasMore) await this.skip(signal);
    this.isBegun = true;
  }

  /** Read what is before the lines that are known. */
  async earlier(): Promise<void> {
    const { lines } = this;
    const { start } = lines;
    if (start === 0) return;
    const { data } = await readPart(this.file, Math.max(0, start - PART), start - 1);
    if (lines === this.lines && start === lines.start) lines.prepend(data);
  }

  /** Forget the lines, which are no longer those at the end. */
  restart(): void {
    this.lines = new Lines(0, this.order);
    this.next = 0;
    this.isBegun = false;
  }

  private get file() {
    return { id: this.id, directory: "stdouterr", path: this.name, attempt: this.attempt };
  }

  private append(data: Uint8Array, next: number): void {
    this.lines.append(data);
    this.next = next;
    this.size = Math.max(this.size, next);
  }

  /** Go to the end. */
  private async skip(signal: AbortSignal): Promise<void> {
    const { data, start, size } = await readLast(this.file, PART, signal);
    if (signal.aborted) return;
    this.size = Math.max(this.size, size);
    if (start > this.next) this.lines = new Lines(start, this.order);
    this.append(data.subarray(Math.max(0, this.next - start)), Math.max(this.next, start + data.length));
  }
}

/** A block of one of several files. */
export interface Shown {
  block: Block;
  isError: boolean;
}

/** The files of one log, such as both streams of a process. */
export class Tails {
  readonly all: readonly Tail[];

  constructor(id: string, names: readonly string[], attempt: string, order: Order) {
    this.all = names.map((name) => new Tail(id, name, attempt, order));
  }

  get place(): string {
    return this.all.map((tail) => tail.place).join(" ");
  }

  get more(): boolean {
    return this.all.some((tail) => tail.more);
  }

  /** Bytes of all the files, and of what is before the lines that are known. */
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
    const blocks = this.all.flatMap(({ lines, isError }) => lines.blocks.map((block) => ({ block, isError })));
    return this.all.length === 1 ? blocks : blocks.toSorted((one, other) => one.block.id - other.block.id);
  }

  /** Read what was written since to all the files, or to one of them. */
  async read(signal: AbortSignal, only?: number): Promise<void> {
    for (const tail of only === undefined ? this.all : this.all.slice(only % this.all.length).slice(0, 1)) await tail.read(signal);
  }

  async earlier(): Promise<void> {
    for (const tail of this.all) await tail.earlier();
  }

  restart(): void {
    for (const tail of this.all) tail.restart();
  }
}

function sum(tails: readonly Tail[], count: (tail: Tail) => number): number {
  return tails.reduce((total, tail) => total + count(tail), 0);
}
