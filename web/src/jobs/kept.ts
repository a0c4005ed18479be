/** The list that a reader left for a job: a returning reader finds it unchanged, with its filters and at the same place. */
import { link } from "../route";
import { credential } from "../session";
import { JobsFeed } from "./feed";
import type { JobLine } from "../answers";
import { apiQuery, type Filters } from "./search/keys";

export interface KeptList {
  readonly feed: JobsFeed;
  /** Pixels above the first row in view. */
  top: number;
}

let memory: (KeptList & { key: string; address: string }) | undefined;

/** The list of these filters, as this caller left it or a new one. */
export function listOf(filters: Filters): KeptList {
  const query = apiQuery(filters);
  const key = JSON.stringify([query, credential()]);
  const address = link(["jobs"], filters);
  memory = memory?.key === key ? { ...memory, address } : { key, address, feed: new JobsFeed(query), top: 0 };
  return memory;
}

/** The jobs of the list that the reader saw last. */
export function knownJobs(): readonly JobLine[] {
  return memory?.feed.list.jobs ?? [];
}

/** Where the list is that the reader saw last. */
export function lastList(): string {
  return memory?.address ?? link(["jobs"]);
}
