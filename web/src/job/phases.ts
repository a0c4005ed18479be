/** How the time of a job was spent: each attempt waited, was in its cluster's queue, and ran, perhaps on several nodes. */
import { ENDS, type JobDetail } from "../answers";
import { duration } from "../format";

export interface Bar {
  from: number;
  to: number;
  kind: "wait" | "gone" | "run" | "fail";
  /** In full, and in short. */
  text: string;
  short: string;
}

export interface Lane {
  label: string;
  bars: Bar[];
  /** What each node did, where more than one is known. */
  nodes: Bar[];
  sentence: string;
}

/** The attempts in order; times in milliseconds. `nodes`: in seconds, when each node reported first and last. */
export function lanesOf(job: JobDetail, now: number, nodes: ReadonlyMap<number, readonly [number, number]>): Lane[] {
  const attempts = job.attempts ?? [];
  return attempts.map((one, index) => {
    const isLast = index === attempts.length - 1;
    const next = attempts[index + 1];
    const end = time(one.endedAt) ?? time(next?.acceptedAt) ?? (isLast && ENDS.has(job.state) ? time(job.endedAt) : undefined) ?? now;
    const isGoing = isLast && !ENDS.has(job.state);
    const handed = time(one.submittingAt) ?? time(one.queuedAt);
    const start = time(one.acceptedAt) ?? handed ?? time(one.runningAt) ?? end;
    const ran = time(one.runningAt);
    const failed = !isGoing && (!isLast || ["failed", "lost"].includes(job.state));
    const bars: Bar[] = [];
    const add = (kind: Bar["kind"], word: string, from: number, to: number, more = "") => {
      if (to > from) bars.push({ from, to, kind, text: `${word} ${duration(to - from)}${more}`, short: duration(to - from) });
    };
    add("wait", isGoing && handed === undefined && ran === undefined ? "waits" : "waited", start, handed ?? ran ?? end, waitedFor(job, one.attempt));
    if (handed !== undefined) add("gone", isGoing && ran === undefined ? "in the cluster's queue for" : "queued", handed, ran ?? end);
    const how = failed ? ` · ${outcome(job, one.message, isLast)}` : "";
    if (ran !== undefined) add(failed ? "fail" : "run", isGoing ? "runs for" : "ran", ran, end, how);
    const own = isLast && ran !== undefined && nodes.size > 1 ? [...nodes].toSorted(([a], [b]) => a - b).map(([rank, span]) => nodeBar(job, rank, span, ran, end, isGoing)) : [];
    return { label: `Attempt ${one.attempt}`, bars, nodes: own, sentence: `Attempt ${one.attempt} ${bars.map(({ text }) => text).join(", ")}${own.length ? `, on ${own.length} nodes` : ""}.` };
  });
}

function time(text: string | undefined): number | undefined {
  const value = Date.parse(text ?? "");
  return Number.isNaN(value) ? undefined : value;
}

/** The reason of the longest part of its wait, if its history has one. */
function waitedFor({ history = [], waiting }: JobDetail, attempt: number): string {
  const notes = history.filter((entry) => entry.attempt === attempt && entry.state === "accepted" && entry.note);
  const text = notes.at(-1)?.note ?? (waiting && attempt === history.at(-1)?.attempt ? waiting.text : "");
  return text ? `: ${text}` : "";
}

function outcome({ exitCode, message = "" }: JobDetail, own: string | undefined, isLast: boolean): string {
  if (isLast && exitCode !== undefined) return `exit code ${exitCode}`;
  return (own ?? (isLast ? message : "")) || "failed";
}

/** Milliseconds between two reports of a node, and some more: what is nearer to an end of the run is at it. */
const BEGINS = 40_000;

/** A node's part of a run, as far as its reports say it; that of the process that failed first is marked. */
function nodeBar(job: JobDetail, rank: number, [first, last]: readonly [number, number], ran: number, end: number, isGoing: boolean): Bar {
  const from = first * 1000 < ran + BEGINS ? ran : Math.min(first * 1000, end);
  const to = isGoing || last * 1000 > end - BEGINS ? end : Math.max(from, last * 1000);
  const failed = job.state === "failed" && Number(/-(\d+)\.txt$/.exec(job.errorLines?.file ?? "")?.[1]) === rank;
  const text = `node ${rank} · ${isGoing ? "runs for" : "ran"} ${duration(to - from)}${failed ? ` · failed, exit code ${job.exitCode ?? "unknown"}` : ""}`;
  return { from, to, kind: failed ? "fail" : "run", text, short: `node ${rank}` };
}
