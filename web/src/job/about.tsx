import type { ComponentChildren } from "preact";
import type { JobDetail } from "../answers";
import { shortNumber } from "../format";
import { Time } from "../parts/parts";
import { useRights } from "../rights";
import { link } from "../route";

/** The facts of a job, and the command lines for it. */
export function Facts({ job }: { job: JobDetail }) {
  const { mayChange } = useRights();
  const rows: [string, ComponentChildren][] = [
    ["Id", <code>{job.id}</code>],
    ["Experiment", job.experiment && <a href={link(["jobs"], { experiment: job.experiment })}>{job.experiment}</a>],
    ["Cluster", job.cluster && <a href={link(["jobs"], { cluster: job.cluster })}>{job.cluster}</a>],
    ["Submitted by", job.owner && <a href={link(["jobs"], { owner: job.owner })}>{job.owner}</a>],
    ["Team", job.team && <a href={link(["jobs"], { team: job.team })}>{job.team}</a>],
    ["Sweep", job.sweep && <a href={link(["jobs"], { sweep: job.sweep.id })}>{`job ${job.sweep.index} of ${job.sweep.id}`}</a>],
    ["Entered by", job.entered?.join(", ")],
    ["Arrived by", <a href={link(["jobs"], { source: job.door })}>{job.door}</a>],
    ["Nodes", job.nodes],
    ["Priority", job.priority],
    ["Dropped in", job.drop && <code>{`${job.drop.container}/${job.drop.folder}`}</code>],
    ["Created", <Time at={job.createdAt} />],
    ["Packages", job.packagesSeconds && `${job.packagesSeconds} s`],
    ["Exit code", job.exitCode],
    ["Attempt", job.attempt],
    ["On the cluster", job.engine && <code>{[job.engine.name, job.engine.id].filter(Boolean).join(" · ")}</code>],
    ["Labels", job.labels && Object.entries(job.labels).map(([name, value]) => <span key={name} class="tag">{`${name}=${value}`}</span>)],
    ["Reruns", job.rerunOf && <a href={link(["jobs", job.rerunOf])}>{job.rerunOf}</a>],
    ["Goes on from", job.resumes && <a href={link(["jobs", job.resumes])}>{job.resumes}</a>],
    ["Receipt", <code>{job.receipt}</code>],
    ["Terminal", <Lines lines={[`slipway log ${job.id} --follow`]} />],
    ["Change it", job.state === "accepted" && mayChange(job) && <Lines lines={[`slipway priority ${job.id} high`, job.waiting?.word === "JobPaused" ? `slipway resume ${job.id}` : `slipway pause ${job.id}`]} />],
    ["Enter it", job.state === "running" && mayChange(job) && <Lines lines={[`slipway shell ${job.id}`, `slipway forward ${job.id} PORT`, `slipway ssh-config ${job.id}`]} />],
  ];
  return (
    <section class="panel" aria-labelledby="about">
      <header>
        <h2 id="about">About</h2>
      </header>
      <dl class="dl">
        {rows
          .filter(([, value]) => value !== undefined && value !== "" && value !== null && value !== false)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

/** What is less than a hundredth is not worth more digits. */
function amount(value: number): string {
  return value > 0 && value < 0.01 ? "less than 0.01" : shortNumber(value);
}

export function usedBy({ nodeHours, gpuHours, cost, currency }: NonNullable<JobDetail["usage"]>): string {
  const hours = `${amount(nodeHours)} node-hours${gpuHours ? `, ${amount(gpuHours)} GPU-hours` : ""}`;
  return cost === undefined ? hours : `${hours}, ${amount(cost)} ${currency ?? ""}`.trim();
}

/** Command lines to be copied: the person's own tools go there, and no page does. */
function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <>
      {lines.map((line) => (
        <code key={line} class="command">
          {line}
        </code>
      ))}
    </>
  );
}
