import { useMemo, useState } from "preact/hooks";
import { ENDS, type JobDetail } from "../answers";
import { type ApiError, call, json } from "../api";
import { Refusal } from "../parts/parts";
import { useRights } from "../rights";
import { link } from "../route";
import { attempt, onceKey } from "./attempt";

/** Cancel a job that runs, after a second click; run one that has ended again. */
export function Actions({ job, onChange }: { job: JobDetail; onChange: () => void }) {
  const [error, setError] = useState<ApiError>();
  const [isAsking, ask] = useState(false);
  const { maySubmit, mayChange } = useRights();
  const path = `jobs/${encodeURIComponent(job.id)}`;
  const key = useMemo(onceKey, [job.id]);
  const cancel = () =>
    attempt(setError, async () => {
      ask(false);
      await call(`${path}/cancel`, { method: "POST" });
      onChange();
    });
  const rerun = () =>
    attempt(setError, async () => {
      const receipt = await (await call(`${path}/receipt`)).text();
      const headers = { "idempotency-key": key };
      const again = await json<JobDetail>(`${path}/rerun`, { method: "POST", body: receipt, headers });
      location.hash = link(["jobs", again.id]);
    });
  return (
    <div class="actions">
      {ENDS.has(job.state) ? (
        maySubmit &&
        (job.state === "rejected" ? (
          job.received !== undefined && (
            <a class="button" href={link(["new"], { from: job.id })}>
              Mend in the editor
            </a>
          )
        ) : (
          <>
            <button type="button" onClick={() => void rerun()}>
              Run again
            </button>
            <a class="button" href={link(["new"], { from: job.id })}>
              Run with changes
            </a>
          </>
        ))
      ) : !mayChange(job) ? null : isAsking ? (
        <>
          <button type="button" onClick={() => void cancel()}>
            Yes, cancel the job
          </button>
          <button type="button" onClick={() => ask(false)}>
            No
          </button>
        </>
      ) : (
        <button type="button" disabled={job.cancelRequested === true} onClick={() => ask(true)}>
          Cancel
        </button>
      )}
      <Refusal error={error} />
    </div>
  );
}
