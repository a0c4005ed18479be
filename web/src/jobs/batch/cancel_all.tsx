import { useMemo, useState } from "preact/hooks";
import type { CancelledJobs, JobLine, JobPage } from "../../answers";
import { json } from "../../api";
import { ApiError } from "../../apierror";
import { onceKey } from "../../job/once";
import { Confirm } from "../../parts/confirm";
import { Outcome, useDeed } from "../../parts/deed";
import { State } from "../../parts/parts";
import { Reading, useReading } from "../../parts/reading";
import { JOBS } from "../../shape";
import { ACTIVE, type Filters } from "../search/keys";
import { statesOf } from "../states";

/** Most jobs of one cancellation, and of one page of a list. */
const [MOST, PAGE] = [500, 200];
const NAMES = 8;

/** The conditions of a cancellation of all that fit a search; undefined where none of them can be active. */
export function conditionsOf(search: Filters): Filters | undefined {
  const { order, error, state = "", ...others } = search;
  const states = statesOf(state);
  const active = ACTIVE.filter((one) => states.size === 0 || states.has(one));
  if (order === "ended" || error || active.length === 0) return undefined;
  const name = others["name"];
  const whole = name && !name.endsWith("*") ? { name: `${name}*` } : {};
  return { ...others, ...whole, state: active.length === ACTIVE.length ? "active" : active.join(",") };
}

interface Props {
  conditions: Filters;
  onNo: () => void;
  onDone: () => void;
}

/** Counts what fits now, asks, and ends exactly as many. */
export function CancelAll({ conditions, onNo, onDone }: Props) {
  const [round, setRound] = useState(0);
  const reading = useReading("to cancel", (signal) => allActive(conditions, signal), round);
  const key = useMemo(onceKey, [round]);
  const [refused, setRefused] = useState<CancelledJobs["refused"]>([]);
  const deed = useDeed();
  const jobs = reading.value ?? [];
  const isMany = jobs.length > MOST;
  const end = () =>
    deed.click(async () => {
      try {
        const body = JSON.stringify({ conditions: asCounted(conditions, jobs), expected: jobs.length });
        const answer = await json<CancelledJobs>("jobs/cancel", { method: "POST", body, headers: { "idempotency-key": key }, shape: { jobs: "list", refused: "list" } });
        if (answer.refused.length > 0) setRefused(answer.refused);
        else onDone();
      } catch (error) {
        if (error instanceof ApiError && error.status === 409) setRound(round + 1); // others fit now
        throw error;
      }
    });
  const number = jobs.length === 1 ? "1 job" : `${jobs.length.toLocaleString()} jobs`;
  if (refused.length > 0) {
    return (
      <Confirm title={`${refused.length} of ${number} could not be cancelled`} yes={undefined} isBusy={false} onYes={onDone} onNo={onDone}>
        <ul>
          {refused.slice(0, NAMES).map((one) => (
            <li key={one.id}>
              <b>{one.name}</b>: {one.why}
            </li>
          ))}
        </ul>
      </Confirm>
    );
  }
  const title = reading.value === undefined ? "How many fit?" : isMany ? `More than ${MOST} jobs fit` : jobs.length === 0 ? "No active job fits" : `Cancel ${number}?`;
  return (
    <Confirm title={title} yes={jobs.length > 0 && !isMany ? `Cancel ${number}` : undefined} isBusy={deed.isBusy} onYes={() => void end()} onNo={onNo}>
      <Reading of={reading} />
      {isMany ? <p>The page cancels at most {MOST} at once. Search for fewer, such as those until a day; `slipway cancel` takes up to 10,000.</p> : <Jobs jobs={jobs} />}
      <Outcome deed={deed} />
    </Confirm>
  );
}

/** How many there are in each state, and some of their names. */
export function Jobs({ jobs }: { jobs: readonly JobLine[] }) {
  const states = new Map<string, number>();
  for (const { state } of jobs) states.set(state, (states.get(state) ?? 0) + 1);
  return (
    <>
      <p class="counts">
        {[...states].map(([state, number]) => (
          <span key={state}>
            {number.toLocaleString()} <State word={state} />
          </span>
        ))}
      </p>
      <p class="names">
        {jobs.slice(0, NAMES).map(({ id, name }) => (
          <span key={id} class="tag cut">
            {name}
          </span>
        ))}
        {jobs.length > NAMES && ` and ${(jobs.length - NAMES).toLocaleString()} more`}
      </p>
    </>
  );
}

/** The conditions, which a job that came after these does not fit: the number alone may stay the same. */
function asCounted(conditions: Filters, jobs: readonly JobLine[]): Filters {
  const newest = Math.max(...jobs.map(({ createdAt }) => Date.parse(createdAt)));
  return { until: new Date(newest + 1).toISOString(), ...conditions }; // a Date has no microseconds
}

/** The active jobs that fit, up to one more than may be cancelled. */
async function allActive(conditions: Filters, signal: AbortSignal): Promise<readonly JobLine[]> {
  const jobs: JobLine[] = [];
  let after: string | undefined;
  do {
    const page: JobPage = await json<JobPage>("jobs", { query: { ...conditions, limit: PAGE, after }, shape: JOBS, signal });
    jobs.push(...page.jobs);
    after = page.next ?? undefined;
  } while (after !== undefined && jobs.length <= MOST);
  return jobs;
}
