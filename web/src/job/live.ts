/** A job that is watched: one request brings the job, what it wrote to its log, and its new numbers. */
import { ENDS, type JobDetail, type LiveJob } from "../answers";
import { call, parsed } from "../api";
import { type Polled, usePoll } from "../poll";
import { checked, JOB } from "../shape";
import { useMemo } from "preact/hooks";
import { Tails } from "./log/tail";
import { Plots, SERIES } from "./series";

/** Milliseconds: the least pause between two requests, also of a job that writes all the time, and the longest. */
export const [FLOOR, LATEST] = [5_000, 16_000];
/** Answers that are read before they are drawn: there may be no end of the numbers. */
const ANSWERS = 8;
const SHAPE = { job: JOB, log: [{ file: "text", data: "text" }], next: "text" } as const;

/** What is known of a job, and of what one attempt of it wrote. */
export class Live {
  job: JobDetail | undefined;
  /** The names in its `stdouterr`; undefined until an answer has them. */
  files: readonly string[] | undefined;
  /** Why the log or the numbers are missing. */
  note = "";
  more = false;
  readonly plots = new Plots();
  private next = "";
  private tag = "";
  private shown = { version: 0 };
  private readonly logs = new Map<string, Tails>();

  constructor(
    readonly id: string,
    readonly attempt: string,
  ) {}

  /** The log of the process that writes this file; "" is the first one. */
  log(file: string): Tails {
    const log = this.logs.get(file) ?? new Tails(this.id, this.attempt);
    this.logs.set(file, log);
    return log;
  }

  /** Read what is new, with the log of this process: the same object as long as nothing is. */
  async read(file: string, signal: AbortSignal): Promise<object> {
    this.more = true;
    for (let count = 0; this.more && count < ANSWERS; count += 1) {
      const query = { after: this.next, file, points: 1000, attempt: this.attempt };
      const headers: Record<string, string> = this.tag === "" ? {} : { "if-none-match": this.tag };
      const answer = await call(`jobs/${encodeURIComponent(this.id)}/live`, { query, headers, signal });
      if (answer.status === 304) {
        this.more = false;
        return this.shown;
      }
      const live = await parsed<LiveJob>(answer, SHAPE);
      if (live.metrics !== undefined) checked(live.metrics, SERIES);
      this.take(live, file);
      this.tag = answer.headers.get("etag") ?? "";
      if (signal.aborted) break;
    }
    return this.shown;
  }

  private take(answer: LiveJob, file: string): void {
    if (answer.restarted) this.logs.clear();
    this.job = answer.job;
    this.files = answer.files ?? this.files;
    this.note = answer.note ?? "";
    this.more = answer.more;
    this.next = answer.next;
    const [first] = answer.log;
    const process = first?.file.replace(/^stderr/, "stdout") ?? file; // the first process has two names, and one log
    const log = this.logs.get(process) ?? this.log(file);
    this.logs.set(process, log).set(file, log);
    for (const part of answer.log) log.take(part);
    log.isBegun = true;
    if (answer.metrics !== undefined) this.plots.add(answer.metrics);
    this.shown = { version: this.shown.version + 1 };
  }
}

/** Watch a job, with the log of one process of one attempt; `attempt` is "" for the current one. */
export function useLive(id: string, attempt: string, file: string): Polled<object> & { live: Live } {
  const live = useMemo(() => new Live(id, attempt), [id, attempt]);
  const isFinal = () => live.job !== undefined && ENDS.has(live.job.state) && !live.more;
  const polled = usePoll(`${id}\n${attempt}`, (signal) => live.read(file, signal), { soonest: FLOOR, latest: LATEST, isFinal, asksOnce: true, version: file });
  return { ...polled, live };
}
