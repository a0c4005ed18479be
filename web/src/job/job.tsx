import { useEffect, useMemo } from "preact/hooks";
import { ENDS, type JobDetail } from "../answers";
import { JOB } from "../shape";
import { Feed } from "../api";
import { Refusal, State } from "../parts/parts";
import { lastList } from "../jobs/kept";
import { LATEST, usePoll } from "../poll";
import { link, type Route } from "../route";
import { Actions } from "./actions";
import { Code } from "./code";
import { Deliveries } from "./deliveries";
import { Document } from "./document";
import { Files } from "./files";
import { Log } from "./log/log";
import { Metrics } from "./metrics";
import { Summary } from "./summary";
import { Timeline } from "./timeline";

const TABS: Record<string, string> = {
  overview: "Overview",
  log: "Log",
  metrics: "Metrics",
  files: "Files",
  document: "job.json",
  code: "Code",
  deliveries: "Deliveries",
};

export function JobView({ route: { steps, query } }: { route: Route }) {
  const [, id = "", ...rest] = steps;
  return <OneJob key={id} id={id} steps={rest} attempt={query["attempt"] ?? ""} />;
}

function OneJob({ id, steps, attempt }: { id: string; steps: string[]; attempt: string }) {
  const [tab = "overview", ...at] = steps;
  const feed = useMemo(() => new Feed<JobDetail>(`jobs/${encodeURIComponent(id)}`, {}, JOB), [id]);
  const options = { latest: 2 * LATEST, isFinal: (job: JobDetail) => ENDS.has(job.state) };
  const polled = usePoll(id, (signal) => feed.read(signal), options);
  const job = polled.value;
  useEffect(() => {
    document.title = job ? `${job.name} ${job.state} · Slipway` : `${id} · Slipway`;
  }, [job?.name, job?.state]);
  return (
    <main>
      <p>
        <a href={lastList()}>← Jobs</a>
      </p>
      <h1>
        {job?.name ?? id} {job && <State word={job.state} />}
      </h1>
      {job && <Actions job={job} onChange={polled.again} />}
      <Refusal error={polled.error} readAt={polled.readAt} />
      {job === undefined && !polled.error && <p role="status">Loading…</p>}
      <nav class="tabs" aria-label="About the job">
        {Object.entries(TABS).map(([name, label]) => (
          <a key={name} href={link(["jobs", id, name])} aria-current={name === tab ? "page" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      {job && <Tab job={job} name={tab} at={at} attempt={attempt} />}
    </main>
  );
}

function Tab({ job, name, at, attempt: asked }: { job: JobDetail; name: string; at: string[]; attempt: string }) {
  const attempt = asked === String(job.attempt) ? "" : asked;
  if (name === "log") return <Log job={job} attempt={attempt} />;
  if (name === "metrics") return <Metrics job={job} />;
  if (name === "files") return <Files job={job} at={at} attempt={attempt} />;
  if (name === "document") return <Document job={job} />;
  if (name === "code") return <Code job={job} />;
  if (name === "deliveries") return <Deliveries job={job} />;
  return (
    <>
      <Summary job={job} />
      <Timeline job={job} />
    </>
  );
}
