import type { JobLine } from "../answers";
import { deploymentTime } from "../clock";
import { ago, exactTime } from "../days";
import { State } from "../parts/parts";
import { link } from "../route";

/** The criteria by which jobs are grouped, in the words of the address. */
export const KINDS = ["experiment", "sweep"] as const;
export type Kind = (typeof KINDS)[number];

export interface Group {
  name: string;
  jobs: JobLine[];
}

/** The jobs by the name of their group, in the order of the newest job of each; those without one are left out. */
export function grouped(jobs: readonly JobLine[], kind: Kind): Group[] {
  const groups = sorted(jobs, (job) => (kind === "sweep" ? job.sweep?.id : job.experiment) ?? "");
  groups.delete("");
  return [...groups].map(([name, members]) => ({ name, jobs: members }));
}

function sorted(jobs: readonly JobLine[], name: (job: JobLine) => string): Map<string, JobLine[]> {
  const groups = new Map<string, JobLine[]>();
  for (const job of jobs) {
    const members = groups.get(name(job));
    if (members) members.push(job);
    else groups.set(name(job), [job]);
  }
  return groups;
}

interface Props {
  kind: Kind;
  jobs: readonly JobLine[];
  /** Reads older jobs; undefined where all are known. */
  onMore: (() => void) | undefined;
}

/** One row for each group, with how many of its jobs are in which state. */
export function Groups({ kind, jobs, onMore }: Props) {
  const groups = grouped(jobs, kind);
  return (
    <section class="panel groups" aria-label={`Jobs by ${kind}`}>
      {groups.length === 0 && <p class="quiet">None of these jobs has {kind === "sweep" ? "a sweep" : "an experiment"}.</p>}
      <ul>
        {groups.map((group) => (
          <li key={group.name}>
            <a class="name" href={link(["jobs"], { [kind]: group.name })} title={group.name}>
              {title(group, kind)}
            </a>
            <span class="counts">
              {[...sorted(group.jobs, (job) => job.state)].map(([state, members]) => (
                <span key={state}>
                  {members.length} <State word={state} />
                </span>
              ))}
            </span>
            <span class="soft">{group.jobs[0] && <When at={group.jobs[0].createdAt} />}</span>
            <a href={link(["jobs"], { [kind]: group.name, view: "compare" })}>
              Compare<span class="hidden"> the jobs of {group.name}</span>
            </a>
          </li>
        ))}
      </ul>
      <p class="quiet">
        {jobs.length.toLocaleString()} jobs, the newest first.{" "}
        {onMore && (
          <button type="button" onClick={onMore}>
            Include older ones
          </button>
        )}
      </p>
    </section>
  );
}

/** The jobs of a sweep have its name, and their number after it. */
function title({ name, jobs }: Group, kind: Kind): string {
  return kind === "sweep" ? (jobs[0]?.name.replace(/-\d+$/, "") ?? name) : name;
}

export function When({ at }: { at: string }) {
  const time = new Date(at);
  return (
    <time dateTime={at} title={exactTime(time)}>
      {ago(time, new Date(deploymentTime()))}
    </time>
  );
}
