import { useMemo } from "preact/hooks";
import { ENDS, type ClusterState, type JobLine, type JobPage, type SilentCluster } from "../answers";
import { JOBS } from "../shape";
import { Feed } from "../api";
import { Notice, Refusal, Time } from "../parts/parts";
import { LATEST, usePoll } from "../poll";
import { link } from "../route";
import "../parts/wide.css";
import "./clusters.css";
import { Facts } from "./facts";
import { History } from "./history";
import { Nodes } from "./nodes";
import { Queue, Shares } from "./use";

/** One that answers, or one that does not. */
type Cluster = { name: string } & Partial<ClusterState & SilentCluster>;

/** Active jobs that are read: the newest. */
const MOST = 200;

/** Every cluster with its nodes, and the jobs that run or wait there. It makes two calls, each half as often. */
export function Clusters() {
  const feeds = useMemo(
    () => ({
      clusters: new Feed<{ clusters: Cluster[] }>("clusters", { history: "6h" }, { clusters: [{ name: "text" }] }),
      jobs: new Feed<JobPage>("jobs", { state: "active", limit: MOST }, JOBS),
    }),
    [],
  );
  const clusters = usePoll("clusters", (signal) => feeds.clusters.read(signal), { latest: 2 * LATEST });
  const jobs = usePoll("jobs", (signal) => feeds.jobs.read(signal), { latest: 2 * LATEST });
  const active = jobs.value?.jobs.filter((job) => !ENDS.has(job.state));
  const isCut = Boolean(jobs.value?.next);
  return (
    <main class="page clusters">
      <div class="title">
        <h1>Clusters</h1>
        {clusters.value && <span class="count">{clusters.value.clusters.length}</span>}
      </div>
      <Refusal error={clusters.error ?? jobs.error} readAt={clusters.error ? clusters.readAt : jobs.readAt} />
      {clusters.value === undefined && !clusters.error && <p role="status">Loading…</p>}
      {isCut && <Notice kind="info">Only the newest {MOST} active jobs are counted and shown here.</Notice>}
      {clusters.value?.clusters.map((one) => (
        <OneCluster key={one.name} cluster={one} jobs={active?.filter((job) => job.cluster === one.name)} isCut={isCut} />
      ))}
    </main>
  );
}

function OneCluster({ cluster, jobs, isCut }: { cluster: Cluster; jobs: JobLine[] | undefined; isCut: boolean }) {
  const { name, members = [], errors = [] } = cluster;
  return (
    <section class="panel cluster" aria-label={name}>
      <header>
        <h2>
          <a class="name" href={link(["jobs"], { cluster: name })}>
            {name}
          </a>
        </h2>
        {cluster.error === undefined && <span class="soft">{words(cluster)}</span>}
        <a class="link more" href={link(["jobs"], { cluster: name, state: "active" })}>
          All jobs there
        </a>
      </header>
      <div class="parts">
        <div class="fill">
          {cluster.error !== undefined && (
            <Notice kind="error">
              It cannot be queried: {cluster.error} {cluster.since && <>Since <Time at={cluster.since} />.</>}
            </Notice>
          )}
          {errors.map((error) => (
            <Notice key={error} kind="error">
              {error}
            </Notice>
          ))}
          <Nodes name={name} members={members} />
          {cluster.history && <History name={name} history={cluster.history} />}
          <Facts facts={cluster.facts} capabilities={cluster.capabilities} />
        </div>
        <div class="jobs-there">
          {jobs && <Queue name={name} jobs={jobs} isCut={isCut} />}
          {jobs && <Shares name={name} jobs={jobs} />}
        </div>
      </div>
    </section>
  );
}

/** Its engine, how many nodes it has, and of which kind. */
function words({ engine, state, nodes, maximum, counts = {}, size, priority, gpus }: Cluster): string {
  const busy = Object.entries(counts).filter(([, count]) => count > 0);
  const number = state === "not listed" ? "an unknown number" : nodes;
  const byState = busy.length > 0 ? ` (${busy.map(([word, count]) => `${count} ${word}`).join(", ")})` : "";
  return [`${engine}, reachable, ${state}: ${number} of at most ${maximum ?? "any number of"} nodes${byState}`, gpus && `${gpus.free} of ${gpus.all} GPUs free`, size, priority].filter(Boolean).join(", ");
}
