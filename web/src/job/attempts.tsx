import type { JobDetail } from "../answers";
import { link } from "../route";

/** At most so many are offered: those before can be reached by their address. */
const MOST = 12;

interface Props {
  job: JobDetail;
  /** The one that is shown; "" for the current one. */
  attempt: string;
  part: "log" | "files";
}

/** Leads from one attempt of a job to the others: each keeps its log and its files. */
export function Attempts({ job, attempt, part }: Props) {
  if (job.attempt < 2) return null;
  const first = Math.max(1, job.attempt - MOST + 1);
  const numbers = Array.from({ length: job.attempt - first + 1 }, (_, index) => String(first + index));
  const shown = attempt || String(job.attempt);
  return (
    <nav class="seg" aria-label="Attempts">
      <i aria-hidden="true">Attempt</i>
      {numbers.map((number) => (
        <a key={number} href={link(["jobs", job.id, part], { attempt: number === String(job.attempt) ? "" : number })} aria-label={`Attempt ${number}`} aria-current={number === shown ? "page" : undefined}>
          {number}
        </a>
      ))}
    </nav>
  );
}
