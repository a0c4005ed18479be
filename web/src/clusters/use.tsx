import { ENDS, type JobLine } from "../answers";
import { deploymentTime } from "../clock";
import { ago, comingTime, exactTime } from "../days";
import { Middle } from "../parts/middle";
import { State } from "../parts/parts";
import { link } from "../route";
import { shortWho } from "../who";

const RANKS: Record<string, number> = { high: 0, normal: 1, low: 2 };

/** Most jobs of a cluster in its queue, and most lines of who uses it. */
const [MOST, MOST_SHARES] = [12, 8];

interface QueueProps {
  name: string;
  jobs: readonly JobLine[];
  /** Whether there are more than these. */
  isCut: boolean;
}

/** The jobs of a cluster: those that run, then those that wait, by priority and age. */
export function Queue({ name, jobs, isCut }: QueueProps) {
  const active = jobs.filter((job) => !ENDS.has(job.state)).toSorted(byTurn);
  if (active.length === 0) return <p class="soft empty">No job runs or waits here.</p>;
  const running = active.filter((job) => job.state === "running").length;
  const more = active.length - MOST;
  return (
    <>
      <h3>
        Queue: {running} running, {active.length - running} waiting, by priority
        {isCut && ", of the newest"}
      </h3>
      <ul class="lines queue" aria-label={`Jobs on ${name}`}>
        {active.slice(0, MOST).map((job) => (
          <li key={job.id}>
            <State word={job.state} />
            <div class="two">
              <a class="name" href={link(["jobs", job.id])} title={job.name} aria-label={job.name}>
                <Middle text={job.name} />
              </a>
              <div class="cut" title={job.waiting?.text}>
                {[job.nodes !== undefined && `${job.nodes} ${job.nodes === 1 ? "node" : "nodes"}`, job.priority && `priority ${job.priority}`, job.waiting?.text, job.experiment].filter(Boolean).join(" · ")}
              </div>
            </div>
            <Since job={job} />
          </li>
        ))}
      </ul>
      {more > 0 && (
        <p class="after">
          <a class="link" href={link(["jobs"], { cluster: name, state: "active" })}>
            and {more.toLocaleString()} more
          </a>
        </p>
      )}
    </>
  );
}

/** Since when it runs, or when it was accepted. */
function Since({ job }: { job: JobLine }) {
  const at = new Date(job.startedAt ?? job.createdAt);
  return (
    <span class="soft num">
      {job.startedAt ? "since " : "accepted "}
      <time dateTime={at.toISOString()} title={exactTime(at)}>
        {job.startedAt ? comingTime(at, new Date(deploymentTime())) : ago(at, new Date(deploymentTime()))}
      </time>
    </span>
  );
}

/** How many nodes of a cluster each caller has, and how many more they wait for. */
export function Shares({ name, jobs }: { name: string; jobs: readonly JobLine[] }) {
  const shares = sharesOf(jobs);
  if (shares.length === 0) return null;
  const more = shares.length - MOST_SHARES;
  return (
    <div class="wide" tabIndex={0} role="region" aria-label={`Use of ${name}`}>
    <table class="shares">
      <caption>Who uses {name}</caption>
      <thead>
        <tr>
          <th scope="col">Who</th>
          <th scope="col">Team</th>
          <th scope="col">Experiment</th>
          <th scope="col" class="num">Nodes of running jobs</th>
          <th scope="col" class="num">Nodes of waiting jobs</th>
        </tr>
      </thead>
      <tbody>
        {shares.slice(0, MOST_SHARES).map((one) => (
          <tr key={keyOf(one)}>
            <td class="name-cell" title={one.who}>
              <Middle text={shortWho(one.who)} />
            </td>
            <td class="name-cell" title={one.team}>
              {one.team && (
                <a href={link(["jobs"], { team: one.team })} aria-label={one.team}>
                  <Middle text={one.team} />
                </a>
              )}
            </td>
            <td class="name-cell" title={one.experiment}>
              <Middle text={one.experiment} />
            </td>
            <td class="num">{one.running}</td>
            <td class="num">{one.waiting}</td>
          </tr>
        ))}
      </tbody>
    </table>
    {more > 0 && <p class="soft after">and {more.toLocaleString()} more</p>}
    </div>
  );
}

interface Share {
  who: string;
  team: string;
  experiment: string;
  running: number;
  waiting: number;
}

const keyOf = ({ who, team, experiment }: Pick<Share, "who" | "team" | "experiment">) => [who, team, experiment].join("\n");

/** By the caller, or if that is unknown by the door; the greatest use first. */
function sharesOf(jobs: readonly JobLine[]): Share[] {
  const shares = new Map<string, Share>();
  for (const job of jobs) {
    if (ENDS.has(job.state)) continue;
    const one = { who: job.owner ?? job.door, team: job.team ?? "", experiment: job.experiment ?? "" };
    const share = shares.get(keyOf(one)) ?? { ...one, running: 0, waiting: 0 };
    share[job.state === "running" ? "running" : "waiting"] += job.nodes ?? 1;
    shares.set(keyOf(one), share);
  }
  return [...shares.values()].toSorted((a, b) => b.running - a.running || b.waiting - a.waiting);
}

function byTurn(a: JobLine, b: JobLine): number {
  const rank = (job: JobLine) => (job.state === "running" ? -1 : (RANKS[job.priority ?? "normal"] ?? 1));
  return rank(a) - rank(b) || Date.parse(a.createdAt) - Date.parse(b.createdAt);
}
