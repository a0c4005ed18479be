import { useMemo, useRef, useState } from "preact/hooks";
import type { JobLine } from "../../answers";
import { call } from "../../api";
import { shownError } from "../../apierror";
import { onceKey } from "../../job/once";
import { Confirm } from "../../parts/confirm";
import { Outcome, useDeed } from "../../parts/deed";
import { Jobs } from "./cancel_all";

/** Most jobs that are acted on one by one, and how many at once. */
const [MOST, AT_ONCE] = [100, 4];

interface Props {
  jobs: readonly JobLine[];
  act: "cancel" | "rerun";
  onNo: () => void;
  onDone: () => void;
}

/** Asks, and then cancels each of these jobs, or runs it again. */
export function Some({ jobs: all, act, onNo, onDone }: Props) {
  const jobs = useMemo(() => all, []); // what the question is about, also when the list changes
  const keys = useMemo(() => new Map(jobs.map(({ id }) => [id, onceKey()])), []);
  const done = useRef(new Set<string>());
  const [failed, fail] = useState<{ name: string; why: string }[]>([]);
  const deed = useDeed();
  const number = jobs.length === 1 ? "1 job" : `${jobs.length.toLocaleString()} jobs`;
  const words = act === "cancel" ? `Cancel ${number}` : `Run ${number} again`;
  const one = async (job: JobLine) => {
    const headers: Record<string, string> = act === "rerun" ? { "idempotency-key": keys.get(job.id) ?? "" } : {};
    await call(`jobs/${encodeURIComponent(job.id)}/${act}`, { method: "POST", headers });
    done.current.add(job.id);
  };
  const begin = () =>
    deed.click(async () => {
      const waiting = jobs.filter(({ id }) => !done.current.has(id));
      const problems: { name: string; why: string }[] = [];
      const work = async () => {
        for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
          const { name } = job;
          await one(job).catch((error: unknown) => problems.push({ name, why: shownError(error).message }));
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      fail(problems);
      if (problems.length === 0) onDone();
    });
  const isMany = jobs.length > MOST;
  return (
    <Confirm title={`${words}?`} yes={isMany ? undefined : failed.length > 0 ? "Try the rest again" : words} isBusy={deed.isBusy} onYes={() => void begin()} onNo={done.current.size > 0 ? onDone : onNo}>
      {isMany ? <p>At most {MOST} can be chosen for this.</p> : <Jobs jobs={jobs} />}
      {failed.length > 0 && (
        <ul role="alert">
          {failed.slice(0, 8).map(({ name, why }) => (
            <li key={name}>
              <b>{name}</b>: {why}
            </li>
          ))}
        </ul>
      )}
      <Outcome deed={deed} />
    </Confirm>
  );
}
