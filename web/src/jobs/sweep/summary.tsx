import { useMemo, useState } from "preact/hooks";
import type { JobLine, SweepDetail } from "../../answers";
import { call, Feed } from "../../api";
import { ago, exactTime } from "../../days";
import { deploymentTime } from "../../clock";
import { meaningOf } from "../../parts/icon";
import { Outcome, useDeed } from "../../parts/deed";
import { Refusal, State } from "../../parts/parts";
import { LATEST, usePoll } from "../../poll";
import { useRights } from "../../rights";

const SHAPE = { name: "text", state: "text", counts: {} } as const;
/** The states of jobs that have ended, in the order of the bar; then come those at work and those that wait. */
const ORDER = ["succeeded", "failed", "rejected", "lost", "cancelled"];

interface Props {
  id: string;
  /** One of its jobs. */
  job: JobLine | undefined;
  /** How many of its jobs the best value is of; undefined for all. */
  basis: number | undefined;
  best: { text: string; name: string; measure: string } | undefined;
}

/** How far a sweep is, above its jobs. */
export function SweepSummary({ id, job, basis, best }: Props) {
  const path = `sweeps/${encodeURIComponent(id)}`;
  const feed = useMemo(() => new Feed<SweepDetail>(path, {}, SHAPE), [path]);
  const polled = usePoll(path, (signal) => feed.read(signal), { latest: 4 * LATEST, isFinal: (one) => one.state === "ended" });
  const sweep = polled.value;
  if (sweep === undefined) return <Refusal error={polled.error} />;
  const ended = Object.values(sweep.counts).reduce((sum, number) => sum + number, 0);
  const failed = ORDER.slice(1, 4).reduce((sum, state) => sum + (sweep.counts[state] ?? 0), 0);
  return (
    <section class="sweep" aria-label="Sweep">
      <div class="what">
        <p>
        <strong>{sweep.name}</strong>, a sweep of {sweep.total} jobs, at most {sweep.parallel} at once
        {sweep.createdAt && (
          <>
            , begun <time dateTime={sweep.createdAt} title={exactTime(new Date(sweep.createdAt))}>{ago(new Date(sweep.createdAt), new Date(deploymentTime()))}</time>
          </>
        )}
        </p>
        <CancelSweep sweep={sweep} job={job} path={path} again={polled.again} />
      </div>
      <div class="answers">
        <div class="panel answer">
          <h2>Best so far</h2>
          <p class="big">{best ? <>{best.text} {basis !== undefined && `of ${basis} of ${sweep.total} jobs `}<small>{best.measure}</small></> : <small>no value yet</small>}</p>
          <p class="cut">{best?.name}</p>
        </div>
        <div class="panel answer">
          <h2>Progress</h2>
          <p class="big">
            {ended} <small>of {sweep.total} have ended</small>
          </p>
          <Bar sweep={sweep} />
          <p>
            {sweep.waiting} waiting, {sweep.atWork} at work
          </p>
        </div>
        <div class="panel answer">
          <h2>Failed</h2>
          <p class={failed ? "big is-fail" : "big"}>{failed}</p>
          <p class="counts">
            {Object.entries(sweep.counts).map(([state, number]) => (
              <span key={state}>
                {number} <State word={state} />
              </span>
            ))}
          </p>
        </div>
      </div>
      <Refusal error={polled.error} readAt={polled.readAt} />
    </section>
  );
}

/** The jobs by state as parts of a bar; the sentences beside it say the same. */
function Bar({ sweep }: { sweep: SweepDetail }) {
  const parts = [...ORDER.map((state) => [meaningOf(state), sweep.counts[state] ?? 0] as const), ["run", sweep.atWork] as const, ["hair", sweep.waiting] as const];
  const total = Math.max(1, sweep.total);
  let start = 0;
  return (
    <svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="f-hair" width="100" height="6" />
      {parts.map(([kind, number], index) => {
        const [x, width] = [start, (100 * number) / total];
        start += width;
        return width > 0 && <rect key={index} class={`f-${kind}`} x={x} width={width} height="6" />;
      })}
    </svg>
  );
}

interface CancelProps {
  sweep: SweepDetail;
  job: JobLine | undefined;
  path: string;
  again: () => void;
}

function CancelSweep({ sweep, job, path, again }: CancelProps) {
  const { mayChange } = useRights();
  const [isAsking, ask] = useState(false);
  const deed = useDeed();
  const cancel = () =>
    deed.click(async () => {
      ask(false);
      await call(`${path}/cancel`, { method: "POST" });
      again();
    });
  if (sweep.state === "ended" || job === undefined || !mayChange(job)) return null;
  return (
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
  );
}
