/** The curves of the jobs of a sweep, read once of those that have ended, and in turn of those that go on. */
import { useRef, useState } from "preact/hooks";
import { ENDS, type JobLine, type Metrics } from "../../answers";
import { json } from "../../api";
import { ApiError } from "../../apierror";
import { FARTHEST, isUsage, SERIES } from "../../job/series";
import { LATEST, type Polled, usePoll } from "../../poll";

/** Jobs whose numbers are read, how many at once, and points of a curve. */
export const MOST = 500;
const [AT_ONCE, POINTS] = [4, 200];

export interface Curve {
  axis: string;
  points: readonly (readonly [number, number])[];
  last: number;
  lowest: number;
  highest: number;
}

/** The curves of a job by the name of their metric. */
export type Curves = ReadonlyMap<string, Curve>;

interface Reading {
  curves: Curves;
  /** The state in which it was read; and when, by the order of readings. */
  state: string;
  round: number;
}

/** Curves of ended jobs stay as they are: a reader who comes back finds them. */
const cache = new Map<string, Reading>();

interface AllCurves {
  curvesOf: (job: JobLine) => Curves | undefined;
  /** How many are still to be read; and how many have started without their numbers being known. */
  waiting: number;
  unread: number;
  /** Greater after each change. */
  version: number;
  polled: Polled<unknown>;
}

export function useCurves(all: readonly JobLine[]): AllCurves {
  const started = all.filter((job) => job.startedAt !== undefined);
  const jobs = started.slice(0, MOST);
  const round = useRef(0);
  const [version, setVersion] = useState(0);
  const isRead = (job: JobLine) => cache.has(job.id) && (!ENDS.has(job.state) || cache.get(job.id)?.state === job.state);
  const one = async (job: JobLine, signal: AbortSignal) => {
    const curves = await readCurves(job, signal);
    cache.set(job.id, { curves, state: job.state, round: (round.current += 1) });
    setVersion((before) => before + 1);
  };
  const read = async (signal: AbortSignal) => {
    const waiting = jobs.filter((job) => !isRead(job));
    if (waiting.length === 0) {
      const [next] = jobs.filter((job) => !ENDS.has(job.state)).toSorted((a, b) => (cache.get(a.id)?.round ?? 0) - (cache.get(b.id)?.round ?? 0));
      if (next) await one(next, signal);
      return cache;
    }
    const work = async () => {
      for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) await one(job, signal);
    };
    const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    return cache;
  };
  const states = jobs.map((job) => `${job.id} ${ENDS.has(job.state)}`).join();
  const polled = usePoll("curves", read, { latest: 4 * LATEST, version: states, isFinal: () => jobs.every((job) => ENDS.has(job.state)) });
  const waiting = polled.error ? 0 : jobs.filter((job) => !isRead(job)).length;
  const unread = started.filter((job) => !cache.has(job.id)).length;
  return { curvesOf: (job) => cache.get(job.id)?.curves, waiting, unread, version, polled };
}

async function readCurves(job: JobLine, signal: AbortSignal): Promise<Curves> {
  try {
    const answer = await json<Metrics>(`jobs/${encodeURIComponent(job.id)}/metrics`, { query: { points: POINTS }, shape: SERIES, signal });
    return curvesIn(answer);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return new Map();
    throw error;
  }
}

/** Of several processes the first one's. What the nodes report about themselves is none. */
function curvesIn(answer: Metrics): Curves {
  const curves = new Map<string, Curve>();
  for (const { name, file, axis, points: all } of answer.series) {
    const points = all.filter(([x, y]) => Math.abs(x) < FARTHEST && Math.abs(y) < FARTHEST);
    const last = points.at(-1);
    if (last === undefined || curves.has(name) || isUsage(file)) continue;
    const values = points.map(([, y]) => y);
    curves.set(name, { axis, points, last: last[1], lowest: values.reduce((a, b) => Math.min(a, b)), highest: values.reduce((a, b) => Math.max(a, b)) });
  }
  return curves;
}

/** What grows as a model gets better, by the words in its name. */
const GROWS = /acc|auc|bleu|f1|map\b|mean_iou|iou|precision|recall|reward|return|score|r2|psnr|ssim/i;

export function growsBetter(metric: string): boolean {
  return GROWS.test(metric) && !/loss|error|err\b/i.test(metric);
}

/** The metric that is shown first: one of a validation, else a loss, else the first by name. */
export function firstMetric(names: readonly string[]): string {
  const ranks = [/^(val|valid|validation|test|eval)/i, /loss|acc|score|error|wer|reward/i];
  const rank = (name: string) => ranks.reduce((sum, one, index) => sum + (one.test(name) ? 2 - index : 0), 0);
  return names.toSorted((a, b) => rank(b) - rank(a) || a.localeCompare(b))[0] ?? "";
}
