import { useMemo } from "preact/hooks";
import type { JobEvent, JobLine } from "../answers";
import { call, Feed } from "../api";
import { Outcome, useDeed } from "../parts/deed";
import { Refusal, Time } from "../parts/parts";
import { LATEST, usePoll } from "../poll";
import { useRights } from "../rights";

const SHAPE = { events: [{ id: "text", type: "text", targets: [{ url: "text", tries: [{ at: "text" }] }] }] } as const;

/** The events of a job that have a receiver, with every try of each delivery. */
export function Deliveries({ job }: { job: JobLine }) {
  const path = `jobs/${encodeURIComponent(job.id)}/events`;
  const { maySubmit, mayChange } = useRights();
  const feed = useMemo(() => new Feed<{ events: JobEvent[] }>(path, {}, SHAPE), [path]);
  const polled = usePoll(path, (signal) => feed.read(signal), { latest: 2 * LATEST });
  const deed = useDeed();
  const events = polled.value?.events ?? [];
  const again = (event: JobEvent) =>
    deed.click(async () => {
      await call(`events/${encodeURIComponent(event.id)}/redeliver`, { method: "POST" });
      polled.again();
    });
  return (
    <section aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      <Refusal error={polled.error} readAt={polled.readAt} />
      <Outcome deed={deed} />
      {polled.value && events.length === 0 && <p class="quiet">No event of this job has a receiver.</p>}
      {events.map((event) => (
        <article key={event.id}>
          <h3>
            {event.type} <span class={`delivery-${event.state}`}>{event.state}</span>
          </h3>
          <p class="quiet">
            <code>{event.id}</code>{" "}
            {maySubmit && mayChange(job) && (
              <button type="button" aria-disabled={deed.isBusy} onClick={() => void again(event)}>
                Send again
              </button>
            )}
          </p>
          {event.targets.map((receiver) => (
            <div key={receiver.url}>
              <code>{receiver.url}</code> <span class={`delivery-${receiver.state}`}>{receiver.state}</span>
              {receiver.next && (
                <span class="quiet">
                  {" "}
                  next try <Time at={receiver.next} />
                </span>
              )}
              <ol>
                {receiver.tries.map((one, index) => (
                  <li key={index}>
                    <Time at={one.at} /> {one.status ?? "no answer"} in {one.ms} ms {one.said && <code>{one.said}</code>}
                  </li>
                ))}
              </ol>
            </div>
          ))}
        </article>
      ))}
    </section>
  );
}
