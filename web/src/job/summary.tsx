import type { ComponentChildren } from "preact";
import { ENDS, type JobDetail } from "../answers";
import { deploymentTime } from "../clock";
import { elapsed, shortNumber } from "../format";
import { Notice, Time, useNow } from "../parts/parts";
import { useRights } from "../rights";
import { link } from "../route";

/** The entries that need a line of their own. */
const LONG = new Set(["On the cluster", "Labels", "Receipt"]);

function usedBy({ nodeHours, gpuHours }: NonNullable<JobDetail["usage"]>): string {
  return `${shortNumber(nodeHours)} node-hours${gpuHours ? `, ${shortNumber(gpuHours)} GPU-hours` : ""}`;
}

/** What a job is, where it is, and why it waits or failed. */
export function Summary({ job }: { job: JobDetail }) {
  const now = useNow(deploymentTime);
  const ended = ENDS.has(job.state);
  const { mayChange } = useRights();
  const rows: [string, ComponentChildren][] = [
    ["Id", <code>{job.id}</code>],
    ["Experiment", job.experiment && <a href={link(["jobs"], { experiment: job.experiment })}>{job.experiment}</a>],
    ["Cluster", job.cluster && <a href={link(["jobs"], { cluster: job.cluster })}>{job.cluster}</a>],
    ["Submitted by", job.owner && <a href={link(["jobs"], { owner: job.owner })}>{job.owner}</a>],
    ["Team", job.team && <a href={link(["jobs"], { team: job.team })}>{job.team}</a>],
    ["Place in its team's line", job.waiting?.position],
    ["Entered by", job.entered?.join(", ")],
    ["Arrived by", <a href={link(["jobs"], { source: job.door })}>{job.door}</a>],
    ["Nodes", job.nodes],
    ["Dropped in", job.drop && <code>{`${job.drop.container}/${job.drop.folder}`}</code>],
    ["Created", <Time at={job.createdAt} />],
    ["Waited", elapsed(job.createdAt, job.startedAt ?? job.endedAt, now)],
    ["Ran", elapsed(job.startedAt, job.endedAt, now)],
    ["Packages", job.packagesSeconds && `${job.packagesSeconds} s`],
    ["Used", job.usage && usedBy(job.usage)],
    ["Cost", job.usage?.cost !== undefined && `${shortNumber(job.usage.cost)} ${job.usage.currency ?? ""}`],
    ["Exit code", job.exitCode],
    ["Attempt", job.attempt],
    ["On the cluster", job.engine && <code>{[job.engine.name, job.engine.id].filter(Boolean).join(" · ")}</code>],
    ["Labels", job.labels && Object.entries(job.labels).map(([name, value]) => <code key={name}>{`${name}=${value} `}</code>)],
    ["Reruns", job.rerunOf && <a href={link(["jobs", job.rerunOf])}>{job.rerunOf}</a>],
    ["Goes on from", job.resumes && <a href={link(["jobs", job.resumes])}>{job.resumes}</a>],
    ["Receipt", <code>{job.receipt}</code>],
  ];
  return (
    <section aria-label="Summary">
      {job.waiting && <Notice kind="info">Waits: {job.waiting.text}</Notice>}
      {job.cancelRequested && !ended && <Notice kind="info">A cancellation was requested.</Notice>}
      {job.message && <Notice kind={job.state === "failed" || job.state === "rejected" ? "error" : "info"}>{job.message}</Notice>}
      {job.lastError && <pre class="last-error">{job.lastError}</pre>}
      {job.remedy && <Notice kind="info">{job.remedy}</Notice>}
      <dl class="facts">
        {rows
          .filter(([, value]) => value !== undefined && value !== "" && value !== null && value !== false)
          .map(([name, value]) => (
            <div key={name} class={LONG.has(name) ? "long" : undefined}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      {job.state === "running" && mayChange(job) && <Entering id={job.id} />}
    </section>
  );
}

/** The command lines that enter a running job, to be copied: the person's own tools go there, and no page does. */
function Entering({ id }: { id: string }) {
  return (
    <details>
      <summary>Enter this job</summary>
      <pre>{[`slipway shell ${id}`, `slipway forward ${id} PORT`, `slipway ssh-config ${id}`].join("\n")}</pre>
    </details>
  );
}
