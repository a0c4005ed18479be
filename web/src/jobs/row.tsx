/** The rows of the list of jobs. */
import { ChevronRight } from "lucide";
import type { JobLine } from "../answers";
import { clockTime, exactTime } from "../days";
import { elapsed } from "../format";
import { Icon } from "../parts/icon";
import { Middle } from "../parts/middle";
import { State } from "../parts/parts";
import { link } from "../route";
import { shortWho } from "../who";
import { type Fold, span, timeOf } from "./items";
import { remarkOf } from "./remark";

/** A row's place among all rows. */
interface Place {
  index: number;
  top: number;
  height: number;
}

const COLUMNS = 9;
/** Values of a sweep beside a name. */
const MOST_TAGS = 3;
/** Characters that fit into a column. */
const SHORT = 20;

interface RowProps {
  at: Place;
  /** Whether Tab stops at it. */
  isStop: boolean;
  isChosen: boolean;
  isByEnd: boolean;
  now: number;
  onChoose: () => void;
}

function frame({ index, top, height }: Place, kind: string) {
  return { class: `row ${kind}`, role: "row" as const, id: `row-${index}`, "aria-rowindex": index + 2, style: { top: `${top}px`, height: `${height}px` } };
}

export function DayRow({ title, at }: { title: string; at: Place }) {
  return (
    <div {...frame(at, "day")}>
      <span role="cell" aria-colspan={COLUMNS}>
        <h2>{title}</h2>
      </span>
    </div>
  );
}

export function JobRow({ job, isInner, at, isStop, isChosen, isByEnd, now, onChoose }: RowProps & { job: JobLine; isInner: boolean }) {
  const { text, first, isOutput } = remarkOf(job, now);
  return (
    <div {...frame(at, `${isInner ? "inner" : ""} ${isChosen ? "chosen" : ""}`)}>
      <Check label={job.name} isChosen={isChosen} onChoose={onChoose} />
      <span role="cell" class="cell-state">
        <State word={job.state} />
      </span>
      <span role="cell" class="cell-job">
        <span class="line">
          <a class="name" href={link(["jobs", job.id])} tabIndex={isStop ? 0 : -1} title={job.name} aria-label={job.name}>
            <Middle text={job.name} />
          </a>
          {Object.entries(job.sweep?.values ?? {}).slice(0, MOST_TAGS).map(([name, value]) => (
            <span key={name} class="tag">
              {name}={typeof value === "string" ? value : JSON.stringify(value)}
            </span>
          ))}
        </span>
        {(text || first) && (
          <span class="line remark" title={text}>
            {first && <b class="is-wait">{first}</b>}
            <span class={isOutput ? "cut mono" : "cut"}>{text}</span>
          </span>
        )}
      </span>
      <span role="cell" class="cell-where">
        <Line text={job.experiment} to={{ experiment: job.experiment ?? "" }} />
        <Line text={job.cluster} to={{ cluster: job.cluster ?? "" }} />
      </span>
      <span role="cell" class="cell-who">
        {job.owner === undefined ? <span class="line cut">{job.door}</span> : <Line text={shortWho(job.owner)} to={{ owner: job.owner }} title={job.owner} />}
        <Line text={job.team} to={{ team: job.team ?? "" }} title={`team ${job.team}`} />
      </span>
      <span role="cell" class="cell-nodes">{job.nodes}</span>
      <span role="cell" class="cell-time">
        <RowTime at={timeOf(job, isByEnd)} />
      </span>
      <span role="cell" class="cell-waited">{elapsed(job.createdAt, job.startedAt ?? job.endedAt, now)}</span>
      <span role="cell" class="cell-ran">{elapsed(job.startedAt, job.endedAt, now)}</span>
    </div>
  );
}

/** Failures with one cause: their number, and from which name to which. */
export function FoldRow({ fold, at, isStop, isChosen, isByEnd, now, onChoose, onToggle }: RowProps & { fold: Fold; onToggle: () => void }) {
  const { jobs, isOpen } = fold;
  const [newest] = jobs;
  if (newest === undefined) return null;
  const { first, last } = span(jobs);
  const { text, isOutput } = remarkOf(newest, now);
  const owners = [...new Set(jobs.map(({ owner, door }) => (owner === undefined ? door : shortWho(owner))))];
  return (
    <div {...frame(at, `fold ${isChosen ? "chosen" : ""}`)}>
      <Check label={`${jobs.length} jobs with one error`} isChosen={isChosen} onChoose={onChoose} />
      <span role="cell" class="cell-state">
        <State word={newest.state} />
      </span>
      <span role="cell" class="cell-job">
        <span class="line">
          <button type="button" class="name" aria-expanded={isOpen} tabIndex={isStop ? 0 : -1} onClick={onToggle} title={`${first} … ${last}`} aria-label={first === last ? first : `${first} … ${last}`}>
            <Icon of={ChevronRight} size={14} />
            <Middle text={first} />
            {first !== last && <> … <Middle text={last} /></>}
          </button>
          <span class="many">
            {jobs.length} jobs, one error
          </span>
        </span>
        <span class="line remark" title={text}>
          <span class={isOutput ? "cut mono" : "cut"}>{text}</span>
        </span>
      </span>
      <span role="cell" class="cell-where" />
      <span role="cell" class="cell-who">
        <span class="line cut">{owners.length === 1 ? owners[0] : `${owners.length} people`}</span>
      </span>
      <span role="cell" class="cell-nodes" />
      <span role="cell" class="cell-time">
        <RowTime at={timeOf(newest, isByEnd)} />
      </span>
      <span role="cell" class="cell-waited" />
      <span role="cell" class="cell-ran" />
    </div>
  );
}

function Check({ label, isChosen, onChoose }: { label: string; isChosen: boolean; onChoose: () => void }) {
  return (
    <span role="cell" class="cell-check">
      <input type="checkbox" aria-label={`Choose ${label}`} checked={isChosen} tabIndex={-1} onChange={onChoose} />
    </span>
  );
}

/** A value that leads to the jobs that share it. */
function Line({ text, to, title = text }: { text: string | undefined; to: Record<string, string>; title?: string | undefined }) {
  if (!text) return null;
  return (
    <a class="line cut" href={link(["jobs"], to)} title={title} aria-label={text} tabIndex={-1}>
      {text.length > SHORT ? <Middle text={text} /> : text}
    </a>
  );
}

function RowTime({ at }: { at: string }) {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return <>{at}</>;
  return (
    <time dateTime={at} title={exactTime(time)}>
      {clockTime(time)}
    </time>
  );
}
