/** What a list says of a job below its name: why it failed or waits, and when it is to start. */
import type { ExpectedStart, JobLine } from "../answers";
import { comingTime } from "../days";
import { elapsed } from "../format";
import { shortWho } from "../who";

export interface Remark {
  text: string;
  /** Comes first and is never cut: when a job that waits starts. */
  first?: string;
  /** Whether a program wrote it. */
  isOutput: boolean;
}

const NOTHING: Remark = { text: "", isOutput: false };

export function remarkOf(job: JobLine, now: number): Remark {
  const { state, waiting, lastError, message, cancelledBy, idle, held, expectedStart, cancelRequested } = job;
  if (waiting || expectedStart) return { text: waiting?.text ?? expectedStart?.why ?? "", first: startText(expectedStart, now), isOutput: false };
  if (state === "cancelled" && cancelledBy) {
    const ran = elapsed(job.startedAt, job.endedAt, now);
    return { text: `cancelled by ${shortWho(cancelledBy)}${ran && ` after ${ran}`}`, isOutput: false };
  }
  if (lastError) return { text: lastError, isOutput: state !== "rejected" };
  if (message) return { text: message, isOutput: false };
  if (held) return { text: `failed: ${held.message}; its nodes are kept until ${comingTime(new Date(held.until), new Date(now))}`, isOutput: false };
  if (idle) return { text: `${idle.cause === "gpus" ? "its GPUs are idle" : "it writes nothing"}, and it is ended at ${comingTime(new Date(idle.endsAfter), new Date(now))} unless it works again`, isOutput: false };
  if (cancelRequested && job.endedAt === undefined) return { text: "its end was asked for", isOutput: false };
  return NOTHING;
}

/** When it starts, as far as that is known. */
function startText(expected: ExpectedStart | undefined, now: number): string {
  const [earliest, latest] = [expected?.earliest, expected?.latest].map((at) => (at === undefined ? undefined : new Date(at)));
  const today = new Date(now);
  if (latest === undefined) return "";
  if (earliest === undefined || earliest.getTime() <= now) return `starts by ${comingTime(latest, today)}`;
  if (earliest.getTime() === latest.getTime()) return `starts at ${comingTime(latest, today)}`;
  return `starts between ${comingTime(earliest, today)} and ${comingTime(latest, today)}`;
}
