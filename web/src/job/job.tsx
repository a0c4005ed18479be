import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { JobDetail } from "../answers";
import { deploymentTime } from "../clock";
import { ago, exactTime } from "../days";
import { elapsed } from "../format";
import { lastList } from "../jobs/kept";
import { meaningOf, Sign } from "../parts/icon";
import { Notice, Refusal, Time, useNow } from "../parts/parts";
import { link, type Route } from "../route";
import { Facts, usedBy } from "./about";
import { Actions } from "./actions";
import { Code } from "./code";
import { Document } from "./document";
import { Events } from "./events";
import { Files } from "./outputs/files";
import "./job.css";
import { Life } from "./life";
import { useLive } from "./live";
import { Log } from "./log/log";
import { Metrics } from "./metrics";
import { Part } from "./part";
import { processOf, Why } from "./why";

/** The parts of a job, by the last step of their address, and the heading that each begins with. */
const PARTS: Record<string, { label: string; heading: string }> = {
  log: { label: "Log", heading: "log" },
  metrics: { label: "Metrics", heading: "metrics" },
  events: { label: "Events", heading: "events" },
  deliveries: { label: "Deliveries", heading: "events" },
  files: { label: "Files", heading: "files" },
  code: { label: "Code", heading: "code" },
  document: { label: "job.json", heading: "document" },
};

/** What a job has that has been given to a cluster. */
const WRITTEN = new Set(["log", "metrics"]);

export function JobView({ route: { steps, query } }: { route: Route }) {
  const [, id = "", ...rest] = steps;
  return <OneJob key={id} id={id} steps={rest} query={query} />;
}

function OneJob({ id, steps, query }: { id: string; steps: string[]; query: Record<string, string> }) {
  const [part = "", ...at] = steps;
  const attempt = query["attempt"] ?? "";
  const [file, choose] = useState(query["file"] ?? "");
  useEffect(() => {
    if (query["file"] !== undefined) choose(query["file"]);
  }, [query["file"], query["at"]]);
  const { live, ...polled } = useLive(id, attempt, file);
  const { job } = live;
  const line = query["at"] ?? "";
  useEffect(() => {
    const name = line.slice(0, line.lastIndexOf(":"));
    const log = live.log(file);
    if (name !== "" && log.isBegun && !log.all.some((one) => one.name === name)) choose(processOf(name));
  }, [line, polled.value]);
  useEffect(() => {
    document.title = job ? `${job.name} ${job.state} · Slipway` : `${id} · Slipway`;
  }, [job?.name, job?.state]);
  useAnchor([id, ...steps, query["at"] ?? ""].join("\n"), PARTS[part]?.heading, job !== undefined);
  const isRefused = job === undefined && polled.error?.isOfTheApi === true && [403, 404].includes(polled.error.status);
  const own = attempt === String(job?.attempt) ? "" : attempt;
  const error = own === "" ? job?.errorLines : undefined;
  return (
    <main class="page job">
      <Head id={id} job={job} onChange={polled.again} />
      {isRefused ? <NoSuchJob /> : <Refusal error={polled.error} readAt={polled.readAt} />}
      {job === undefined && !polled.error && <p role="status">Loading…</p>}
      {job && (
        <>
          <Why job={job} />
          <Life job={job} nodes={own === "" ? live.plots.nodes : NONE} />
          {job.state !== "rejected" && (
            <div class="work">
              <Log
                job={job}
                live={live}
                version={polled.value}
                attempt={own}
                file={file}
                onFile={choose}
                at={query["at"] ?? (error ? `${error.file}:${error.offset}` : "")}
                marked={error && (query["at"] === undefined || query["at"] === `${error.file}:${error.offset}`) ? error.lines.length : 1}
              />
              <Metrics job={job} live={live} attempt={own} isRead={polled.value !== undefined} version={live.plots.version} />
            </div>
          )}
          <div class="foot">
            <Events job={job} />
            <Facts job={job} />
          </div>
          <Parts job={job} part={part} at={at} attempt={own} />
        </>
      )}
    </main>
  );
}

/** Said once; nothing is asked for again. */
function NoSuchJob() {
  return (
    <Notice kind="error">
      This job does not exist, or belongs to a team that you are not in. <a href={lastList()}>All jobs</a>
    </Notice>
  );
}

const NONE = new Map<number, [number, number]>();

/** What is read only when it is opened. */
function Parts({ job, part, at, attempt }: { job: JobDetail; part: string; at: string[]; attempt: string }) {
  return (
    <>
      <Part id="files" title="Files" isAddressed={part === "files"}>
        {() => <Files job={job} at={part === "files" ? at : []} attempt={attempt} />}
      </Part>
      <Part id="code" title="Code" isAddressed={part === "code"}>
        {() => <Code job={job} />}
      </Part>
      <Part id="document" title="job.json" isAddressed={part === "document"}>
        {() => <Document job={job} />}
      </Part>
    </>
  );
}

/** The name of the job, its state, what can be done with it, and the facts that one asks for first. */
function Head({ id, job, onChange }: { id: string; job: JobDetail | undefined; onChange: () => void }) {
  return (
    <>
      <div class="crumbs">
        <a href={lastList()}>Jobs</a> <span aria-hidden="true">/</span>{" "}
        {job?.experiment && (
          <>
            <a href={link(["jobs"], { experiment: job.experiment })}>{job.experiment}</a> <span aria-hidden="true">/</span>{" "}
          </>
        )}
        <span class="mono">{id}</span>
      </div>
      <div class="title">
        <h1>
          {job?.name ?? id}
          {job && (
            <>
              {" "}
              <span class={`state chip is-${meaningOf(job.state)}`}>
                <Sign of={job.state} />
                {job.state}
              </span>
            </>
          )}
        </h1>
        {job && <Actions job={job} onChange={onChange} />}
      </div>
      {job && <Brief job={job} />}
      <nav class="anchors" aria-label="About the job">
        {Object.entries(PARTS).filter(([name]) => job?.state !== "rejected" || !WRITTEN.has(name)).map(([name, { label }]) => (
          <a key={name} href={link(["jobs", id, name])}>
            {label}
          </a>
        ))}
      </nav>
    </>
  );
}

function Brief({ job }: { job: JobDetail }) {
  const now = useNow(deploymentTime);
  const { owner, team, cluster, nodes, startedAt, endedAt, createdAt, attempt, usage } = job;
  const facts: [string, ComponentChildren][] = [
    ["by", [owner, team].filter(Boolean).join(" · ")],
    ["on", cluster && `${cluster}${nodes ? `, ${nodes} ${nodes === 1 ? "node" : "nodes"}` : ""}`],
    [endedAt ? "ended" : "created", <Ago at={endedAt ?? createdAt} now={now} />],
    [startedAt || endedAt ? "waited" : "waits", elapsed(createdAt, startedAt ?? endedAt, now)],
    [endedAt ? "ran" : "runs", startedAt && `${elapsed(startedAt, endedAt, now)}${attempt > 1 ? ` in ${attempt} attempts` : ""}`],
    ["used", usage && usedBy(usage)],
  ];
  return (
    <dl class="brief num" aria-label="Summary">
      {facts
        .filter(([, value]) => value)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt> <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** How long ago it was; the exact time is in the tooltip. */
function Ago({ at, now }: { at: string; now: number }) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return <Time at={at} />;
  return (
    <time dateTime={at} title={exactTime(time)}>
      {ago(time, new Date(now))}
    </time>
  );
}

/** Brings the part that the address names into view, once for each address. */
function useAnchor(place: string, heading: string | undefined, isHere: boolean): void {
  const before = useRef("");
  useEffect(() => {
    if (!isHere || before.current === place) return;
    before.current = place;
    if (heading !== undefined) document.getElementById(heading)?.closest("section")?.scrollIntoView();
  }, [place, heading, isHere]);
}
