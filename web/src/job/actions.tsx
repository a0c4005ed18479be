import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ENDS, type JobDetail } from "../answers";
import { JOB } from "../shape";
import { call, json } from "../api";
import { isTyping } from "../header/keys";
import { type Deed, Outcome, useDeed } from "../parts/deed";
import { useRights } from "../rights";
import { link } from "../route";
import { onceKey } from "./once";
import { neverStarts } from "./why";

/** End a job, or the hold of its nodes, after a second click; run one that has ended again, one of another team after a second click. */
export function Actions({ job, onChange }: { job: JobDetail; onChange: () => void }) {
  const deed = useDeed();
  const { maySubmit, mayChange } = useRights();
  const path = `jobs/${encodeURIComponent(job.id)}`;
  const ending = (how: "cancel" | "release") => () =>
    deed.click(async () => {
      await call(`${path}/${how}`, { method: "POST" });
      onChange();
    });
  return (
    <div class="acts">
      {ENDS.has(job.state) && maySubmit && <Again job={job} deed={deed} path={path} />}
      {!ENDS.has(job.state) && mayChange(job) && (
        <>
          {neverStarts(job) && maySubmit && <Changed id={job.id} />}
          {job.held && <Question label="Release the nodes" yes="Yes, release the nodes" deed={deed} act={ending("release")} isMain />}
          <Question label="Cancel" yes="Yes, cancel the job" deed={deed} act={ending("cancel")} isDone={job.cancelRequested === true} />
        </>
      )}
      <Outcome deed={deed} />
    </div>
  );
}

interface QuestionProps {
  label: string;
  yes: string;
  /** What to know before. */
  text?: string;
  deed: Deed;
  act: () => Promise<void>;
  isMain?: boolean;
  isDone?: boolean;
}

/** A button that asks once more. */
function Question({ label, yes, text, deed, act, isMain = false, isDone = false }: QuestionProps) {
  const [isAsking, ask] = useState(false);
  const confirmed = () => {
    ask(false);
    void act();
  };
  if (!isAsking) {
    return (
      <button key="ask" type="button" class={isMain ? "main" : ""} disabled={isDone} aria-disabled={deed.isBusy} onClick={() => deed.isBusy || ask(true)}>
        {label}
      </button>
    );
  }
  return (
    <>
      {text && <span>{text}</span>}
      <button key="yes" type="button" onClick={confirmed}>
        {yes}
      </button>
      <button key="no" type="button" data-focus onClick={() => ask(false)}>
        No
      </button>
    </>
  );
}

function Changed({ id }: { id: string }) {
  return (
    <a class="button" href={link(["new"], { from: id })}>
      Run with changes
    </a>
  );
}

/** A key that leads to the main button of a place; Enter then chooses it. */
function useKey(key: string) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== key || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      event.preventDefault();
      place.current?.querySelector<HTMLElement>("button")?.focus();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
  return place;
}

/** What can be done with a job that has ended. */
function Again({ job, deed, path }: { job: JobDetail; deed: Deed; path: string }) {
  const { mayNameTeam } = useRights();
  const key = useMemo(onceKey, [job.id]);
  const place = useKey("r");
  const rerun = () =>
    deed.click(async () => {
      const receipt = await (await call(`${path}/receipt`)).text();
      const headers = { "idempotency-key": key };
      const again = await json<JobDetail>(`${path}/rerun`, { method: "POST", body: receipt, headers, shape: JOB });
      location.hash = link(["jobs", again.id]);
    });
  if (job.state === "rejected") {
    return job.received === undefined ? null : (
      <a class="button main" href={link(["new"], { from: job.id })}>
        Fix in the editor
      </a>
    );
  }
  const text = `This job and its code are of the team ${job.team}, which you are not in. The new job, its files and its log belong to your own.`;
  return (
    <span class="acts" ref={place}>
      <Changed id={job.id} />
      {job.team === undefined || mayNameTeam(job.team) ? (
        <button type="button" class="main" aria-disabled={deed.isBusy} onClick={() => void rerun()}>
          Run again
        </button>
      ) : (
        <Question label="Run again" yes="Yes, run it again" text={text} deed={deed} act={rerun} isMain />
      )}
    </span>
  );
}
