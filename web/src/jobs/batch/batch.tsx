import { useState } from "preact/hooks";
import { ENDS, type JobLine } from "../../answers";
import { useRights } from "../../rights";
import { link } from "../../route";
import type { Chosen } from "../chosen";
import type { Filters } from "../search/keys";
import { CancelAll, conditionsOf } from "./cancel_all";
import { Some } from "./some";

interface Props {
  search: Filters;
  jobs: readonly JobLine[];
  /** Whether more jobs fit than are read. */
  hasMore: boolean;
  chosen: Chosen;
  onDone: () => void;
}

type Question = "cancel all" | "cancel" | "run again";

/** What can be done with the jobs that the reader chose, or with all that fit the search. */
export function Batch({ search, jobs, hasMore, chosen, onDone }: Props) {
  const [question, ask] = useState<Question | undefined>(undefined);
  const { mayChange, maySubmit } = useRights();
  const mine = jobs.filter((job) => chosen.ids.has(job.id));
  const going = mine.filter((job) => !ENDS.has(job.state));
  const active = going.filter(mayChange);
  const ended = mine.filter((job) => ENDS.has(job.state) && job.state !== "rejected");
  const isEvery = mine.length === jobs.length;
  const conditions = conditionsOf(search);
  // Where others' jobs are among them, only one's own are asked about, one by one.
  const mayCancelAll = chosen.isAll && conditions !== undefined && active.length === going.length && (active.length > 0 || hasMore);
  const close = () => ask(undefined);
  const done = () => {
    close();
    onDone();
  };
  if (mine.length === 0) return null;
  const many = jobs.length.toLocaleString();
  return (
    <div class="batch" role="region" aria-label="Chosen jobs">
      <b>{chosen.isAll && hasMore ? "All that fit the search" : `${mine.length.toLocaleString()} chosen`}</b>
      {!chosen.isAll && <span class="soft">of {hasMore ? `more than ${many}` : many} that fit the search</span>}
      {!isEvery && (
        <button type="button" onClick={chosen.all}>
          {hasMore ? "Choose all" : `Choose all ${many}`}
        </button>
      )}
      {mine.length > 1 && <a class="button" href={link(["jobs"], { ...search, view: "compare" })}>Compare</a>}
      {maySubmit && ended.length > 0 && !(chosen.isAll && hasMore) && (
        <button type="button" onClick={() => ask("run again")}>
          Run {ended.length === 1 ? "1" : ended.length.toLocaleString()} again
        </button>
      )}
      {(mayCancelAll || active.length > 0) && (
        <button type="button" class="main" onClick={() => ask(mayCancelAll ? "cancel all" : "cancel")}>
          {mayCancelAll && hasMore ? "Cancel all" : `Cancel ${active.length.toLocaleString()}`}
        </button>
      )}
      <button type="button" class="bare" onClick={chosen.none}>
        Choose none
      </button>
      {question === "cancel all" && conditions && <CancelAll conditions={conditions} onNo={close} onDone={done} />}
      {question === "cancel" && <Some jobs={active} act="cancel" onNo={close} onDone={done} />}
      {question === "run again" && <Some jobs={ended} act="rerun" onNo={close} onDone={done} />}
    </div>
  );
}
