/** The jobs of one query, kept up to date by one request at a time. */
import { ENDS, type JobPage } from "../answers";
import { JOBS } from "../shape";
import { Feed } from "../api";
import { extended, type JobList, refreshed, updated } from "./list";

/** Jobs of one answer: the most that the API gives. */
const PAGE = 200;

export class JobsFeed {
  list: JobList = { jobs: [], next: null };
  private readonly newest: Feed<JobPage>;
  private readonly older: Feed<JobPage>[] = [];
  private turn = 0;

  constructor(private readonly query: Record<string, string>) {
    this.newest = new Feed("jobs", { ...query, limit: PAGE }, JOBS);
  }

  /** Read the newest page, or in turn an older one with jobs that have not ended; the same list if nothing changed. */
  async read(signal: AbortSignal): Promise<JobList> {
    const active = this.older.filter((feed) => feed.last?.jobs.some((job) => !ENDS.has(job.state)));
    const feed = [this.newest, ...active][this.turn++ % (active.length + 1)] ?? this.newest;
    const before = feed.last;
    const page = await feed.read(signal);
    if (page !== before) {
      this.list = feed === this.newest ? refreshed(this.list, page, this.query["order"] === "ended") : updated(this.list, page.jobs);
    }
    return this.list;
  }

  /** Read the page that follows `next`, if the list still ends there. */
  async more(next: string, signal: AbortSignal): Promise<JobList> {
    if (this.list.next !== next) return this.list;
    const feed = new Feed<JobPage>("jobs", { ...this.query, limit: PAGE, after: next }, JOBS);
    const page = await feed.read(signal);
    if (this.list.next === next) {
      this.older.push(feed);
      this.list = extended(this.list, page);
    }
    return this.list;
  }
}
