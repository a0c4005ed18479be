/** A log, read from its end: earlier lines when the reader asks for them, new lines as they are written. */
import { call, notOurs } from "../../api";
import { Lines } from "./lines";
import { readLast, readPart } from "../save";

/** Bytes that are read at once, of a file that may have gigabytes. */
export const PART = 2 << 20;

export class Tail {
  lines = new Lines(0);
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
  ) {}

  /** Which part is here: the same text as long as nothing comes. */
  get place(): string {
    return `${this.lines.start}-${this.next}`;
  }

  /** Read what was written since; where that is much, only its end. */
  async read(signal: AbortSignal): Promise<void> {
    let [bytes, hasMore] = [0, !this.lines.isCut];
    const enough = this.isBegun ? PART : 1;
    while (hasMore && bytes < enough) {
      const query = { file: this.name, offset: String(this.next) };
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
    const { data } = await readPart(this.id, "stdouterr", this.name, Math.max(0, start - PART), start - 1);
    if (lines === this.lines && start === lines.start) lines.prepend(data);
  }

  /** Forget the lines, which are no longer those at the end. */
  restart(): void {
    this.lines = new Lines(0);
    this.next = 0;
    this.isBegun = false;
  }

  private append(data: Uint8Array, next: number): void {
    this.lines.append(data);
    this.next = next;
    this.size = Math.max(this.size, next);
  }

  /** Go to the end. */
  private async skip(signal: AbortSignal): Promise<void> {
    const { data, start, size } = await readLast(this.id, "stdouterr", this.name, PART, signal);
    if (signal.aborted) return;
    this.size = Math.max(this.size, size);
    if (start > this.next) this.lines = new Lines(start);
    this.append(data.subarray(Math.max(0, this.next - start)), Math.max(this.next, start + data.length));
  }
}
