import type { ComponentChildren } from "preact";
import { CircleX, Lightbulb } from "lucide";
import { ENDS, type JobDetail } from "../answers";
import { deploymentTime } from "../clock";
import { clockTime, comingTime } from "../days";
import { duration } from "../format";
import { Findings } from "../parts/findings";
import { Icon } from "../parts/icon";
import { Time, useNow } from "../parts/parts";
import { link } from "../route";

/** What stands on top of a job, in the words of the one who wrote it: why it failed, or waits, and what to do. */
export function Why({ job }: { job: JobDetail }) {
  if (job.state === "rejected") return <Rejected job={job} />;
  if (["failed", "lost"].includes(job.state)) return <Failed job={job} />;
  if (job.state === "cancelled") return <Cancelled job={job} />;
  if (ENDS.has(job.state)) return job.message ? <Panel tone="quiet" title={job.message} /> : null;
  return (
    <>
      {job.held && <Held job={job} />}
      {job.waiting && !job.held && <Waits job={job} />}
      {job.cancelRequested && <Panel tone="wait" title={requested(job)} />}
      {job.message && job.message !== job.held?.message && !job.waiting?.text.startsWith(job.message) && <Panel tone={job.idle ? "wait" : "quiet"} title={job.message} />}
    </>
  );
}

function requested({ cancelledBy, held }: JobDetail): string {
  if (cancelledBy) return `Its end was requested by ${cancelledBy}.`;
  return held ? "The end of its hold was requested." : "A cancellation was requested.";
}

interface PanelProps {
  tone: "fail" | "wait" | "quiet";
  title: ComponentChildren;
  isMachine?: boolean;
  children?: ComponentChildren;
}

function Panel({ tone, title, isMachine = false, children }: PanelProps) {
  return (
    <section class={`panel why why-${tone}`} aria-label="Why">
      <header>
        <h2 class={isMachine ? "mono" : ""}>{title}</h2>
      </header>
      {children}
    </section>
  );
}

function Failed({ job }: { job: JobDetail }) {
  const { lastError, errorLines, message, exitCode, remedy, attempt } = job;
  const title = lastError ?? message ?? (job.state === "lost" ? "Its cluster does not know how it ended." : "It failed.");
  return (
    <Panel tone="fail" title={title} isMachine={lastError !== undefined}>
      <p class="from">
        {exitCode !== undefined && (
          <span class="state is-fail">
            <Icon of={CircleX} size={14} class="sign-fail" />
            {`exit code ${exitCode}`}
          </span>
        )}
        {errorLines && <span>{`${errorLines.file}${attempt > 1 ? `, attempt ${attempt}` : ""}`}</span>}
        {lastError !== undefined && message && <span>{message}</span>}
        {repeated(job) && <span>{repeated(job)}</span>}
        {errorLines ? (
          <a class="link" href={link(["jobs", job.id, "log"], { at: `${errorLines.file}:${errorLines.offset}` })}>
            Show it in the log
          </a>
        ) : (
          <a class="link" href={link(["jobs", job.id, "log"])}>
            Show the log
          </a>
        )}
      </p>
      {errorLines && (
        <pre class="trace" tabIndex={0} role="group" aria-label="The last lines">
          {errorLines.lines.map((line, index) => (
            <span key={index} class={line.trim() !== "" && line.trim() === lastError?.trim() ? "cause" : ""}>{`${line}\n`}</span>
          ))}
        </pre>
      )}
      {job.problems && <Findings findings={job.problems} />}
      {remedy ? (
        <Remedy>{sentence(remedy)}</Remedy>
      ) : (
        <Remedy>
          {errorLines ? "Change what these lines name" : "Change what failed"}, and <a href={link(["new"], { from: job.id })}>run it with changes</a>; the log says what was before.
        </Remedy>
      )}
    </Panel>
  );
}

/** The file by which the log of a process is chosen: both of its streams come with standard output. */
export function processOf(file: string): string {
  return file.replace(/^stderr/, "stdout");
}

/** Whether an earlier attempt ended for the same reason. */
function repeated({ attempts = [], message }: JobDetail): string {
  const same = attempts.slice(0, -1).filter((one) => one.message !== undefined && one.message === message);
  if (same.length === 0) return "";
  return same.length === 1 ? `attempt ${same[0]?.attempt} ended in the same way` : `${same.length} earlier attempts ended in the same way`;
}

function Remedy({ children }: { children: ComponentChildren }) {
  return (
    <p class="hint">
      <Icon of={Lightbulb} />
      <span>{children}</span>
    </p>
  );
}

function Rejected({ job }: { job: JobDetail }) {
  return (
    <Panel tone="fail" title={job.message || "Its document cannot run."}>
      <div class="inside">
        {!job.problems?.length && job.lastError && <p>{job.lastError}</p>}
        <Findings findings={job.problems ?? []} />
        {job.remedy && <Remedy>{sentence(job.remedy)}</Remedy>}
      </div>
    </Panel>
  );
}

function Cancelled({ job }: { job: JobDetail }) {
  const title = job.cancelledBy ? `Cancelled by ${job.cancelledBy}` : job.message || "It was cancelled.";
  return (
    <Panel tone="quiet" title={title}>
      {(job.cancelledBy && job.message) || job.lastError || job.remedy ? (
        <div class="inside">
          {job.cancelledBy && job.message && <p>{job.message}</p>}
          {job.lastError && <pre class="trace">{job.lastError}</pre>}
          {job.remedy && <Remedy>{sentence(job.remedy)}</Remedy>}
        </div>
      ) : null}
    </Panel>
  );
}

function Held({ job: { held, id } }: { job: JobDetail }) {
  if (held === undefined) return null;
  return (
    <Panel tone="wait" title={sentence(held.message)}>
      <p class="from">
        {held.exitCode !== undefined && <span>{`exit code ${held.exitCode}`}</span>}
        <span>
          its nodes are kept until <Time at={held.until} />, unless they are released
        </span>
      </p>
      <Remedy>
        Enter it with <code>{`slipway shell ${id}`}</code>, and release the nodes when you have seen enough.
      </Remedy>
    </Panel>
  );
}

/** Whether it stays so until the job or the cluster changes. */
export function neverStarts({ waiting }: Pick<JobDetail, "waiting">): boolean {
  return waiting !== undefined && (waiting.never === true || waiting.text.startsWith("can never start"));
}

function Waits({ job }: { job: JobDetail }) {
  const now = useNow(deploymentTime);
  const { waiting, expectedStart: start } = job;
  if (waiting === undefined) return null;
  const never = neverStarts(job);
  return (
    <Panel tone={never ? "fail" : "wait"} title={sentence(waiting.text)}>
      <dl class="waits">
        <div>
          <dt>Waits</dt>
          <dd>
            {duration(now - Date.parse(waiting.since))} <small>{`since ${clockTime(new Date(waiting.since))}`}</small>
          </dd>
        </div>
        {waiting.position !== undefined && (
          <div>
            <dt>Place in line</dt>
            <dd>{waiting.position}</dd>
          </div>
        )}
        <div>
          <dt>Starts</dt>
          <dd>{never ? "never, as things stand" : start ? expected(start, now) : "not known yet"}</dd>
        </div>
      </dl>
      {start && !never && <p class="from">{start.why}</p>}
      {never && <Remedy>Cancel it, and run it with changes: ask for what its cluster has, or for another cluster. An operator may change the cluster instead; then it starts by itself.</Remedy>}
    </Panel>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function expected({ earliest, latest }: NonNullable<JobDetail["expectedStart"]>, now: number): ComponentChildren {
  const from = earliest !== undefined && Date.parse(earliest) > now ? duration(Date.parse(earliest) - now) : "";
  if (latest === undefined) return from ? `in ${from} at the earliest` : "not known";
  const most = duration(Date.parse(latest) - now);
  return (
    <>
      {from && from !== most ? `in ${from} to ${most}` : `within ${most}`} <small>{`at ${comingTime(new Date(latest), new Date(now))} at the latest`}</small>
    </>
  );
}

