/** The jobs that the page knows, newest first, put together from the pages of the API. */
import type { JobLine, JobPage } from "../answers";

export interface JobList {
  jobs: readonly JobLine[];
  /** Where the jobs continue that are older than all of these; null where there are none. */
  next: string | null;
  /** How far back a search has looked that goes on at `next` only when it is asked to. */
  searchedTo?: string | undefined;
}

const newestFirst = (a: JobLine, b: JobLine) => (a.createdAt === b.createdAt ? 0 : a.createdAt < b.createdAt ? 1 : -1);

/** The list after its first page was read again; one of ends loses no job. */
export function refreshed(list: JobList, page: JobPage, isByEnd = false): JobList {
  if (page.searchedTo !== undefined) return searchedAgain(list, page, page.searchedTo, isByEnd);
  const [newest, oldest] = [list.jobs[0], page.jobs.at(-1)];
  const ids = new Set(list.jobs.map((job) => job.id));
  const overlaps = page.jobs.some((job) => ids.has(job.id));
  // More jobs came than a page holds: what lies between is not known, so older jobs are read anew.
  if (newest === undefined || oldest === undefined || !overlaps || page.next === null) return page;
  const fresh = new Set(page.jobs.map((job) => job.id));
  const older = list.jobs.filter((job) => !fresh.has(job.id) && (isByEnd || job.createdAt <= oldest.createdAt));
  return { ...page, jobs: [...page.jobs, ...older], next: older.length ? list.next : page.next };
}

/** The same of a search that has looked back to a moment: what was found before that moment stays. */
function searchedAgain(list: JobList, page: JobPage, moment: string, isByEnd: boolean): JobList {
  const isOlder = (text: string) => Date.parse(text) < Date.parse(moment);
  const older = list.jobs.filter((job) => isOlder((isByEnd && job.endedAt) || job.createdAt));
  const wentOn = older.length > 0 || (list.searchedTo !== undefined && isOlder(list.searchedTo));
  return wentOn ? { jobs: [...page.jobs, ...older], next: list.next, searchedTo: list.searchedTo } : page;
}

/** The list with the page that follows it. */
export function extended(list: JobList, page: JobPage): JobList {
  const ids = new Set(list.jobs.map((job) => job.id));
  return { ...page, jobs: [...list.jobs, ...page.jobs.filter((job) => !ids.has(job.id))] };
}

/** The list with newer answers about some of its jobs; others are left out. */
export function updated(list: JobList, jobs: readonly JobLine[]): JobList {
  const answers = new Map(jobs.map((job) => [job.id, job]));
  return { ...list, jobs: list.jobs.map((job) => answers.get(job.id) ?? job).toSorted(newestFirst) };
}
