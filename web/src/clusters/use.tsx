import { ENDS, type JobLine } from "../answers";
import { State, Time } from "../parts/parts";
import { link } from "../route";

const RANKS: Record<string, number> = { high: 0, normal: 1, low: 2 };

/** The jobs of a cluster: those that run, then those that wait, by priority and age. */
export function Queue({ name, jobs }: { name: string; jobs: readonly JobLine[] }) {
  const active = jobs.filter((job) => !ENDS.has(job.state)).toSorted(byTurn);
  if (active.length === 0) return <p class="quiet">No job runs or waits here.</p>;
  const running = active.filter((job) => job.state === "running").length;
  return (
    <>
      <h3>
        Queue: {running} running, {active.length - running} waiting, by priority
      </h3>
      <ul class="files" aria-label={`Jobs on ${name}`}>
        {active.map((job) => (
          <li key={job.id}>
            <State word={job.state} /> <a href={link(["jobs", job.id])}>{job.name}</a>
            <span class="quiet">
              {job.nodes !== undefined && `${job.nodes} ${job.nodes === 1 ? "node" : "nodes"}`}
              {job.priority && `, priority ${job.priority}`}
            </span>
            <span class="quiet">{job.experiment}</span>
            <span class="quiet">
              {job.startedAt ? "since " : "accepted "}
              <Time at={job.startedAt ?? job.createdAt} />
            </span>
            {job.waiting && <span class="quiet">{job.waiting.text}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** How many nodes of a cluster each caller has, and how many more they wait for. */
export function Shares({ name, jobs }: { name: string; jobs: readonly JobLine[] }) {
  const shares = sharesOf(jobs);
  if (shares.length === 0) return null;
  return (
    <table class="shares" tabIndex={0}>
      <caption>Who uses {name}</caption>
      <thead>
        <tr>
          <th scope="col">Who</th>
          <th scope="col">Team</th>
          <th scope="col">Experiment</th>
          <th scope="col">Nodes of running jobs</th>
          <th scope="col">Nodes of waiting jobs</th>
        </tr>
      </thead>
      <tbody>
        {shares.map((one) => (
          <tr key={keyOf(one)}>
            <td>{one.who}</td>
            <td>{one.team && <a href={link(["jobs"], { team: one.team })}>{one.team}</a>}</td>
            <td>{one.experiment}</td>
            <td>{one.running}</td>
            <td>{one.waiting}</td>
          </tr>
        ))}
      </tbody>
    </table>
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
