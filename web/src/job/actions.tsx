import { useMemo, useState } from "preact/hooks";
import { ENDS, type JobDetail } from "../answers";
import { JOB } from "../shape";
import { call, json } from "../api";
import { Outcome, useDeed } from "../parts/deed";
import { useRights } from "../rights";
import { link } from "../route";
import { onceKey } from "./once";

/** Cancel a job that runs, after a second click; run one that has ended again, one of another team after a second click. */
export function Actions({ job, onChange }: { job: JobDetail; onChange: () => void }) {
  const deed = useDeed();
  const [isAsking, ask] = useState(false);
  const { maySubmit, mayChange, mayNameTeam } = useRights();
  const path = `jobs/${encodeURIComponent(job.id)}`;
  const key = useMemo(onceKey, [job.id]);
  const cancel = () =>
    deed.click(async () => {
      ask(false);
      await call(`${path}/cancel`, { method: "POST" });
      onChange();
    });
  const isOfOthers = job.team !== undefined && !mayNameTeam(job.team);
  const rerun = () =>
    deed.click(async () => {
      ask(false);
      const receipt = await (await call(`${path}/receipt`)).text();
      const headers = { "idempotency-key": key };
      const again = await json<JobDetail>(`${path}/rerun`, { method: "POST", body: receipt, headers, shape: JOB });
      location.hash = link(["jobs", again.id]);
    });
  return (
    <div class="actions">
      {ENDS.has(job.state) ? (
        maySubmit &&
        (job.state === "rejected" ? (
          job.received !== undefined && (
            <a class="button" href={link(["new"], { from: job.id })}>
              Fix in the editor
            </a>
          )
        ) : (
          <>
            {isAsking ? (
              <>
                <span>{`This job and its code are of the team ${job.team}, which you are not in. The new job, its files and its log belong to your own.`}</span>
                <button type="button" onClick={() => void rerun()}>
                  Yes, run it again
                </button>
                <button type="button" data-focus onClick={() => ask(false)}>
                  No
                </button>
              </>
            ) : (
              <button type="button" aria-disabled={deed.isBusy} onClick={() => (isOfOthers ? deed.isBusy || ask(true) : void rerun())}>
                Run again
              </button>
            )}
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
          <button type="button" data-focus onClick={() => ask(false)}>
            No
          </button>
        </>
      ) : (
        <button type="button" disabled={job.cancelRequested === true} aria-disabled={deed.isBusy} onClick={() => deed.isBusy || ask(true)}>
          Cancel
        </button>
      )}
      <Outcome deed={deed} />
    </div>
  );
}
