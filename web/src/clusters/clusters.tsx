import { useMemo } from "preact/hooks";
import type { ClusterState, JobLine, JobPage, SilentCluster } from "../answers";
import { JOBS } from "../shape";
import { Feed } from "../api";
import { Notice, Refusal, Time } from "../parts/parts";
import { LATEST, usePoll } from "../poll";
import { link } from "../route";
import { Facts } from "./facts";
import { History } from "./history";
import { Queue, Shares } from "./use";

/** One that answers, or one that does not. */
type Cluster = { name: string } & Partial<ClusterState & SilentCluster>;

/** Every cluster with its nodes, and the jobs that run or wait there. It makes two calls, each half as often. */
export function Clusters() {
  const feeds = useMemo(
    () => ({
      clusters: new Feed<{ clusters: Cluster[] }>("clusters", { history: "6h" }, { clusters: [{ name: "text" }] }),
      jobs: new Feed<JobPage>("jobs", { state: "active", limit: 200 }, JOBS),
    }),
    [],
  );
  const clusters = usePoll("clusters", (signal) => feeds.clusters.read(signal), { latest: 2 * LATEST });
  const jobs = usePoll("jobs", (signal) => feeds.jobs.read(signal), { latest: 2 * LATEST });
  return (
    <main>
      <h1>Clusters</h1>
      <Refusal error={clusters.error ?? jobs.error} readAt={clusters.error ? clusters.readAt : jobs.readAt} />
      {clusters.value === undefined && !clusters.error && <p role="status">Loading…</p>}
      {clusters.value?.clusters.map((one) => (
        <OneCluster key={one.name} cluster={one} jobs={jobs.value?.jobs.filter((job) => job.cluster === one.name)} />
      ))}
      {jobs.value?.next && <Notice kind="info">Only the newest 200 active jobs are shown here.</Notice>}
    </main>
  );
}

function OneCluster({ cluster, jobs }: { cluster: Cluster; jobs: JobLine[] | undefined }) {
  const { name, counts = {}, members = [], errors = [] } = cluster;
  const busy = Object.entries(counts).filter(([, count]) => count > 0);
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
          {cluster.engine}, reachable, {cluster.state}: {cluster.state === "not listed" ? "an unknown number" : cluster.nodes} of at most {cluster.maximum ?? "any number of"} nodes
          {busy.length > 0 && ` (${busy.map(([state, count]) => `${count} ${state}`).join(", ")})`}
          {cluster.size && `, ${cluster.size}`}
          {cluster.priority && `, ${cluster.priority}`}
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
      <Facts facts={cluster.facts} capabilities={cluster.capabilities} />
      {cluster.history && <History name={name} history={cluster.history} />}
      {jobs && <Shares name={name} jobs={jobs} />}
      {jobs && <Queue name={name} jobs={jobs} />}
    </section>
  );
}
