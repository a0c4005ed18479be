import type { JobDetail } from "../answers";
import { elapsed } from "../format";
import { State, Time } from "../parts/parts";
import { link } from "../route";

type Entry = NonNullable<JobDetail["history"]>[number];

/** Whether it is the entry with which an attempt ended and the next one began. */
function isRetry(entries: readonly Entry[], entry: Entry): boolean {
  return entry.attempt > 1 && entries.find((one) => one.attempt === entry.attempt) === entry;
}

/** The states of a job, each with how long it lasted. */
export function Timeline({ job }: { job: JobDetail }) {
  const entries = job.history ?? [];
  const changes = entries.filter((entry, index) => index === 0 || entry.state !== entries[index - 1]?.state || entry.note);
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <ol class="timeline">
        {changes.map((entry, index) => (
          <li key={entry.sequence}>
            <State word={entry.state} /> <Time at={entry.at} />
            {entry.attempt > 1 && <span class="quiet"> attempt {entry.attempt}</span>}
            {changes[index + 1] && <span class="quiet"> for {elapsed(entry.at, changes[index + 1]?.at, 0)}</span>}
            {entry.reason && <span class="quiet"> ({entry.reason})</span>}
            {entry.note && <div class="remark">{entry.note}</div>}
            {isRetry(entries, entry) && <a href={link(["jobs", job.id, "log"], { attempt: String(entry.attempt - 1) })}>Log of attempt {entry.attempt - 1}</a>}
          </li>
        ))}
      </ol>
    </section>
  );
}
