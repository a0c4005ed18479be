import { useMemo, useState } from "preact/hooks";
import type { JobLine, SweepDetail } from "../answers";
import { call, Feed } from "../api";
import { Outcome, useDeed } from "../parts/deed";
import { Refusal, State } from "../parts/parts";
import { LATEST, usePoll } from "../poll";
import { useRights } from "../rights";

const SHAPE = { name: "text", state: "text", counts: {} } as const;

/** How far a sweep is, above the list of its jobs; `job` is one of them. */
export function SweepSummary({ id, job }: { id: string; job: JobLine | undefined }) {
  const path = `sweeps/${encodeURIComponent(id)}`;
  const feed = useMemo(() => new Feed<SweepDetail>(path, {}, SHAPE), [path]);
  const polled = usePoll(path, (signal) => feed.read(signal), { latest: 2 * LATEST, isFinal: (one) => one.state === "ended" });
  const { mayChange } = useRights();
  const [isAsking, ask] = useState(false);
  const deed = useDeed();
  const cancel = () =>
    deed.click(async () => {
      ask(false);
      await call(`${path}/cancel`, { method: "POST" });
      polled.again();
    });
  const sweep = polled.value;
  if (sweep === undefined) return <Refusal error={polled.error} />;
  const mayCancel = sweep.state !== "ended" && job !== undefined && mayChange(job);
  return (
    <section class="sweep" aria-label="Sweep">
      <p>
        <strong>{sweep.name}</strong>, a sweep of {sweep.total} jobs, at most {sweep.parallel} at once: {sweep.waiting} waiting, {sweep.atWork} at work
        {Object.entries(sweep.counts).map(([state, number]) => (
          <span key={state}>
            , {number} <State word={state} />
          </span>
        ))}
      </p>
      {mayCancel && (
        <div class="actions">
          {isAsking ? (
            <>
              <button type="button" onClick={() => void cancel()}>
                Yes, cancel its jobs
              </button>
              <button type="button" data-focus onClick={() => ask(false)}>
                No
              </button>
            </>
          ) : (
            <button type="button" disabled={sweep.cancelRequested === true} aria-disabled={deed.isBusy} onClick={() => deed.isBusy || ask(true)}>
              Cancel the sweep
            </button>
          )}
          <Outcome deed={deed} />
        </div>
      )}
      <Refusal error={polled.error} readAt={polled.readAt} />
    </section>
  );
}
