import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ENDS, type EventDelivery, type HistoryEntry, type JobDetail, type JobEvent } from "../answers";
import { call, json } from "../api";
import { Outcome, useDeed } from "../parts/deed";
import { Sign } from "../parts/icon";
import { Refusal, Time } from "../parts/parts";
import { LATEST, usePoll } from "../poll";
import { useRights } from "../rights";
import { link } from "../route";

const SHAPE = { events: [{ id: "text", type: "text", targets: [{ url: "text", tries: [{ at: "text" }] }] }] } as const;

interface Row {
  at: string;
  sign: string;
  content: ComponentChildren;
  more?: ComponentChildren;
}

/** What happened to a job, in order: its states, who asked for what, and what its receivers were sent. */
export function Events({ job }: { job: JobDetail }) {
  const box = useRef<HTMLElement>(null);
  const isSeen = useSeen(box);
  const rows = historyOf(job);
  return (
    <section class="panel" aria-labelledby="events" ref={box}>
      <header>
        <h2 id="events">Events</h2>
        <span class="count">{rows.length}</span>
        <a class="more link" href={link(["jobs", job.id, "document"])}>
          Receipt
        </a>
      </header>
      <ol class="lines events">
        {rows.map((row, index) => (
          <OneRow key={index} row={row} isOtherDay={index > 0 && dayOf(row.at) !== dayOf(rows[index - 1]!.at)} />
        ))}
      </ol>
      {isSeen && <Deliveries job={job} />}
    </section>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

function dayOf(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? at : DAY.format(time);
}

function OneRow({ row: { at, sign, content, more }, isOtherDay }: { row: Row; isOtherDay: boolean }) {
  const time = new Date(at);
  const isTime = !Number.isNaN(time.getTime());
  return (
    <li>
      <time dateTime={at} title={at.replace("T", " ").replace("Z", " UTC")}>
        {isOtherDay && <small>{dayOf(at)}</small>}
        {isTime ? CLOCK.format(time) : at}
      </time>
      <Sign of={sign} />
      <div class="event">{content}</div>
      <div class="event-more">{more}</div>
    </li>
  );
}

/** The states that the job has reached, each with its reason and who asked for it. */
function historyOf(job: JobDetail): Row[] {
  const entries = job.history ?? [];
  return entries.flatMap((entry, index) => {
    const before = entries[index - 1];
    const isNew = before === undefined || before.state !== entry.state || before.attempt !== entry.attempt;
    if (!isNew && !entry.note && !entry.by) return [];
    const isRetry = before !== undefined && before.attempt !== entry.attempt;
    return [{ at: entry.at, sign: isNew || ENDS.has(entry.state) ? entry.state : "", content: <Entry job={job} entry={entry} isNew={isNew} isRetry={isRetry} />, more: isRetry ? earlier(job, entry) : undefined }];
  });
}

function Entry({ job, entry, isNew, isRetry }: { job: JobDetail; entry: HistoryEntry; isNew: boolean; isRetry: boolean }) {
  const first = entry === job.history?.[0];
  return (
    <>
      {isNew && <b>{isRetry ? `attempt ${entry.attempt} ${entry.state}` : entry.state}</b>}{" "}
      {first && <span>{[job.owner && `from ${job.owner},`, `by ${job.door}`].filter(Boolean).join(" ")}</span>} {entry.note && <span>{entry.note}</span>}{" "}
      {entry.reason && entry.reason !== entry.state && <span class="soft">({entry.reason})</span>} {entry.by && <span>{`by ${entry.by}`}</span>}
    </>
  );
}

/** The log of the attempt that a retry follows. */
function earlier({ id }: JobDetail, { attempt }: HistoryEntry) {
  const before = String(attempt - 1);
  return (
    <a class="link" href={link(["jobs", id, "log"], { attempt: before })}>
      {`Log of attempt ${before}`}
    </a>
  );
}

/** The events of a job that have a receiver, with every try of each delivery: read when they are seen, and again while one is under way. */
function Deliveries({ job }: { job: JobDetail }) {
  const path = `jobs/${encodeURIComponent(job.id)}/events`;
  const { maySubmit, mayChange } = useRights();
  const read = (signal: AbortSignal) => json<{ events: JobEvent[] }>(path, { shape: SHAPE, signal });
  const isFinal = ({ events }: { events: JobEvent[] }) => events.every(({ state }) => state !== "pending");
  const reading = usePoll(path, read, { soonest: LATEST, isFinal, asksOnce: true, version: job.state });
  const deed = useDeed();
  const { value } = reading;
  const again = (event: JobEvent) =>
    deed.click(async () => {
      await call(`events/${encodeURIComponent(event.id)}/redeliver`, { method: "POST" });
      reading.again();
    });
  return (
    <div class="deliveries">
      <h3 id="deliveries">Deliveries</h3>
      <Refusal error={reading.error} readAt={reading.readAt} onAgain={reading.error?.problem["isSilence"] ? undefined : reading.again} />
      <Outcome deed={deed} />
      {value?.events.length === 0 && <p class="soft">No event of this job has a receiver.</p>}
      <ul>
        {value?.events.map((event) => (
          <li key={event.id}>
            <div class="delivery">
              <Sign of={SIGNS[event.state] ?? "waiting"} />
              <b>{event.type}</b> <span class={`delivery-${event.state}`}>{event.state}</span> <code class="soft">{event.id}</code>
              {maySubmit && mayChange(job) && (
                <button type="button" class="bare" aria-disabled={deed.isBusy} onClick={() => void again(event)}>
                  Send again
                </button>
              )}
            </div>
            {event.targets.map((target) => (
              <Target key={target.url} target={target} />
            ))}
          </li>
        ))}
      </ul>
    </div>
  );
}

const SIGNS: Record<string, string> = { delivered: "succeeded", dead: "failed" };

function Target({ target: { url, state, next, tries } }: { target: EventDelivery }) {
  return (
    <div class="target">
      <code>{url}</code> <span class={`delivery-${state}`}>{state}</span>
      {next && (
        <span class="soft">
          {" "}
          next try <Time at={next} />
        </span>
      )}
      <ol>
        {tries.map((one, index) => (
          <li key={index}>
            <Time at={one.at} /> {one.status ?? "no answer"} in {one.ms} ms {one.said && <code>{one.said}</code>}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Whether a part has been in view, or near it. */
function useSeen(box: { current: Element | null }): boolean {
  const [isSeen, see] = useState(false);
  useEffect(() => {
    if (isSeen || box.current === null) return undefined;
    const watcher = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && see(true), { rootMargin: "100px" });
    watcher.observe(box.current);
    return () => watcher.disconnect();
  }, [isSeen]);
  return isSeen;
}
