import type { ClusterNodes } from "../answers";
import { many, roughly, visibleName } from "../format";
import { shortWho } from "../who";
import type { Meaning } from "../parts/icon";
import { Meter } from "../parts/meter";
import { link } from "../route";
import { Panel } from "./panel";
import { type Facts, freeOf, sinceWhen } from "./facts";

/** Nodes that are drawn with their jobs, and as cells; more of them are a bar. */
const [SEATS, CELLS] = [12, 60];
/** The states of nodes in the order of their cells, and the colour of each. */
const STATES: readonly (readonly [state: string, of: Meaning | "free"])[] = [
  ["running", "run"],
  ["preparing", "wait"],
  ["leaving", "gone"],
  ["unusable", "fail"],
  ["idle", "free"],
];

/** The nodes of every cluster, those that it may still get with a dashed border. */
export function Capacity(facts: Facts) {
  const { clusters, leftOut } = facts.answer;
  return (
    <>
      {clusters.map((one, index) => (
        <Panel
          key={one.name}
          id={`cluster-${index}`}
          title={<a class="name" href={link(["clusters"])}>{one.name}</a>}
          more={
            <a class="link" href={link(["jobs"], { cluster: one.name, state: "active" })}>
              Queue<span class="hidden"> of {one.name}</span>
            </a>
          }
        >
          <div class="fill">
            <Nodes of={one} facts={facts} />
          </div>
        </Panel>
      ))}
      {leftOut !== undefined && leftOut.clusters > 0 && (
        <a class="link" href={link(["clusters"])}>
          {many(leftOut.clusters, "further cluster")}
        </a>
      )}
    </>
  );
}

/** The nodes one by one where they are few, as a bar where they are many; in words in any case. */
function Nodes({ of: cluster, facts }: { of: ClusterNodes; facts: Facts }) {
  const { nodes, at } = cluster;
  const capacity = freeOf(cluster);
  if (nodes === null || capacity === null) {
    return <p class="soft">{at === null ? "Its nodes have not been counted yet." : `It does not answer, since ${sinceWhen(at, facts.now)}.`}</p>;
  }
  const present = STATES.flatMap(([state, of]) => ((nodes[state] ?? 0) > 0 ? [{ state, of, count: nodes[state] ?? 0 }] : []));
  const outside = capacity.free - (nodes["idle"] ?? 0);
  const words = [...present.map(({ state, count }) => `${count} ${state}`), ...(outside > 0 ? [`${outside} more when needed`] : [])].join(" · ");
  return (
    <>
      {capacity.most <= SEATS ? (
        <Seats name={cluster.name} present={present} outside={outside} facts={facts} />
      ) : capacity.most <= CELLS ? (
        <div class="cells" aria-hidden="true">
          {present.flatMap(({ state, of, count }) => Array.from({ length: count }, (_, index) => <i key={`${state}${index}`} class={`cell-${of}`} />))}
          {Array.from({ length: outside }, (_, index) => (
            <i key={index} class="cell-none" />
          ))}
        </div>
      ) : (
        <Meter parts={present.map(({ of, count }) => ({ of: of === "free" ? "hair" : of, amount: count }))} whole={capacity.most} />
      )}
      <p class="num soft">{words || "No nodes now."}</p>
    </>
  );
}

interface SeatsProps {
  name: string;
  present: readonly { state: string; of: Meaning | "free"; count: number }[];
  /** Nodes that the cluster gets when they are needed. */
  outside: number;
  facts: Facts;
}

/** Each node with the job that has it; which of the nodes it is, only the cluster knows. */
function Seats({ name, present, outside, facts: { answer, now } }: SeatsProps) {
  const idle = new Map(answer.idle.map(({ id, since }) => [id, since]));
  const jobs = answer.running.filter((job) => job.cluster === name).flatMap((job) => Array.from({ length: job.nodes }, () => job));
  return (
    <ul class="seats">
      {present.flatMap(({ state, of, count }) =>
        Array.from({ length: count }, (_, index) => {
          const job = state === "running" ? jobs[index] : undefined;
          const since = job && idle.get(job.id);
          return (
            <li key={`${state}${index}`} class={`seat-${since === undefined ? of : "stuck"}`}>
              {job ? (
                <a class="name cut" href={link(["jobs", job.id])} title={visibleName(job.name)}>
                  {visibleName(job.name)}
                </a>
              ) : (
                <b>{of === "free" ? "free" : state}</b>
              )}
              <span class="cut">{job ? (since === undefined ? (job.owner ? shortWho(job.owner) : "works") : `idle ${roughly(now - Date.parse(since))}`) : of === "free" ? "at once" : "node"}</span>
            </li>
          );
        }),
      )}
      {Array.from({ length: outside }, (_, index) => (
        <li key={index} class="seat-free">
          <b>free</b>
          <span>when needed</span>
        </li>
      ))}
    </ul>
  );
}
