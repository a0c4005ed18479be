/** The rows of a list: jobs under the days of their times, and failures with one cause as one row. */
import type { JobLine } from "../answers";
import { dayOf, dayTitle } from "../days";

interface Day {
  kind: "day";
  id: string;
  title: string;
}

interface OneJob {
  kind: "job";
  id: string;
  job: JobLine;
  /** One of a fold that is open. */
  isInner: boolean;
}

export interface Fold {
  kind: "fold";
  id: string;
  /** The newest first. */
  jobs: readonly JobLine[];
  isOpen: boolean;
}

export type Item = Day | OneJob | Fold;
/** A row that has a job. */
export type Choice = OneJob | Fold;

/** Failures of a day with one cause: from so many on they are one row. */
const LEAST = 3;

/** The time by which a list has a job: of its end where the list is ordered by that. */
export function timeOf(job: JobLine, isByEnd: boolean): string {
  return isByEnd ? (job.endedAt ?? job.createdAt) : job.createdAt;
}

/** The rows in order; `open` are the folds that the reader opened. */
export function itemsOf(jobs: readonly JobLine[], isByEnd: boolean, open: ReadonlySet<string>, now: Date): Item[] {
  const items: Item[] = [];
  for (const { day, title, members } of days(jobs, isByEnd, now)) {
    items.push({ kind: "day", id: `day-${day}`, title });
    const causes = causesOf(members);
    const shown = new Set<string>();
    for (const job of members) {
      const cause = causeOf(job);
      const alike = cause === undefined ? undefined : causes.get(cause);
      if (cause === undefined || alike === undefined || alike.length < LEAST) items.push({ kind: "job", id: job.id, job, isInner: false });
      else if (!shown.has(cause)) {
        shown.add(cause);
        const id = `fold-${day}-${cause}`;
        const isOpen = open.has(id);
        items.push({ kind: "fold", id, jobs: alike, isOpen });
        if (isOpen) for (const one of alike) items.push({ kind: "job", id: one.id, job: one, isInner: true });
      }
    }
  }
  return items;
}

interface JobsOfDay {
  day: number;
  title: string;
  members: JobLine[];
}

function days(jobs: readonly JobLine[], isByEnd: boolean, now: Date): JobsOfDay[] {
  const all: JobsOfDay[] = [];
  for (const job of jobs) {
    const time = new Date(timeOf(job, isByEnd));
    const day = dayOf(time);
    const last = all.at(-1);
    if (last?.day === day) last.members.push(job);
    else all.push({ day, title: dayTitle(time, now), members: [job] });
  }
  return all;
}

function causeOf({ state, signature }: JobLine): string | undefined {
  return signature ? `${state} ${signature}` : undefined;
}

function causesOf(jobs: readonly JobLine[]): Map<string, JobLine[]> {
  const causes = new Map<string, JobLine[]>();
  for (const job of jobs) {
    const cause = causeOf(job);
    if (cause === undefined) continue;
    const alike = causes.get(cause);
    if (alike) alike.push(job);
    else causes.set(cause, [job]);
  }
  return causes;
}

/** The upper edges of rows of these heights, and below all of them. */
export function edges(items: readonly Item[], height: (item: Item) => number): number[] {
  const all = [0];
  for (const item of items) all.push((all.at(-1) ?? 0) + height(item));
  return all;
}

/** The row in which a place lies. */
export function rowAt(all: readonly number[], place: number): number {
  let [low, high] = [0, all.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((all[middle] ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The jobs of a row. */
export function jobsOf(item: Item): readonly JobLine[] {
  if (item.kind === "fold") return item.jobs;
  return item.kind === "job" ? [item.job] : [];
}

/** The first and the last of the names of some jobs; of the last, the words that both begin with are left out. */
export function span(jobs: readonly JobLine[]): { first: string; last: string } {
  const names = jobs.map(({ name }) => name).toSorted();
  const [first, last] = [names[0] ?? "", names.at(-1) ?? ""];
  let alike = 0;
  while (alike < last.length && first[alike] === last[alike]) alike += 1;
  const begin = last.slice(0, alike).search(/[^\p{L}\p{N}][\p{L}\p{N}]*$/u) + 1;
  return { first, last: first === last ? last : last.slice(begin) };
}
