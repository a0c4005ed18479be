import type { JobDetail } from "../answers";
import { elapsed } from "../format";
import { State, Time } from "../parts/parts";

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
          </li>
        ))}
      </ol>
    </section>
  );
}
