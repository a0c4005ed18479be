import { useMemo } from "preact/hooks";
import { ENDS, type Job, type JobPage } from "../answers";
import { Feed } from "../api";
import { Notice, Refusal, State, Time } from "../parts/parts";
import { LATEST, usePoll } from "../poll";
import { link } from "../route";

interface Cluster {
  name: string;
  error?: string;
  since?: string;
  engine?: string;
  state?: string;
  nodes?: number;
  counts?: Record<string, number>;
  maximum?: number | null;
  size?: string;
  errors?: string[];
  members?: { name: string; state: string }[];
}

/** Every cluster with its nodes, and the jobs that run or wait there. Two calls at a time, half as often. */
export function Clusters() {
  const feeds = useMemo(
    () => ({
      clusters: new Feed<{ clusters: Cluster[] }>("clusters"),
      jobs: new Feed<JobPage>("jobs", { state: "active", limit: 200 }),
    }),
    [],
  );
  const clusters = usePoll("clusters", (signal) => feeds.clusters.read(signal), { latest: 2 * LATEST });
  const jobs = usePoll("jobs", (signal) => feeds.jobs.read(signal), { latest: 2 * LATEST });
  return (
    <main>
      <h1>Clusters</h1>
      <Refusal error={clusters.error ?? jobs.error} readAt={clusters.readAt} />
      {clusters.value === undefined && !clusters.error && <p role="status">Loading…</p>}
      {clusters.value?.clusters.map((one) => (
        <OneCluster key={one.name} cluster={one} jobs={jobs.value?.jobs.filter((job) => job.cluster === one.name) ?? []} />
      ))}
      {jobs.value?.next && <Notice kind="info">Only the newest 200 active jobs are shown here.</Notice>}
    </main>
  );
}

function OneCluster({ cluster, jobs }: { cluster: Cluster; jobs: Job[] }) {
  const { name, counts = {}, members = [], errors = [] } = cluster;
  const busy = Object.entries(counts).filter(([, count]) => count > 0);
  const active = jobs.filter((job) => !ENDS.has(job.state));
  return (
    <section aria-label={name}>
      <h2>
        <a href={link(["jobs"], { cluster: name })}>{name}</a>
      </h2>
      {cluster.error !== undefined ? (
        <Notice kind="error">
          It cannot be queried: {cluster.error} {cluster.since && <>Since <Time at={cluster.since} />.</>}
        </Notice>
      ) : (
        <p>
          {cluster.engine}, {cluster.state}: {cluster.nodes} of at most {cluster.maximum ?? "any number of"} nodes
          {busy.length > 0 && ` (${busy.map(([state, count]) => `${count} ${state}`).join(", ")})`}
          {cluster.size && `, ${cluster.size}`}
        </p>
      )}
      {errors.map((error) => (
        <Notice key={error} kind="error">
          {error}
        </Notice>
      ))}
      {members.length > 0 && (
        <ul class="nodes" aria-label={`Nodes of ${name}`}>
          {members.map((node) => (
            <li key={node.name}>
              <code>{node.name}</code> {node.state}
            </li>
          ))}
        </ul>
      )}
      {active.length > 0 && (
        <ul class="files" aria-label={`Jobs on ${name}`}>
          {active.map((job) => (
            <li key={job.id}>
              <State word={job.state} /> <a href={link(["jobs", job.id])}>{job.name}</a>
              <span class="quiet">{job.experiment}</span>
              {job.waiting && <span class="quiet">{job.waiting.text}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
