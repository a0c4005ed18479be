/** A table of which only the visible rows are in the document, so that thousands of them cost nothing. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { JobLine } from "../answers";
import { deploymentTime } from "../clock";
import { elapsed } from "../format";
import { State, Time, useNow } from "../parts/parts";
import { link } from "../route";

/** Pixels, as views.css has it. */
const ROW = 60;
/** Rows beyond the visible ones. */
const SPARE = 8;
const COLUMNS = ["State", "Job", "Experiment", "Cluster", "Who", "Nodes", "Created", "Waited", "Ran"];

interface Props {
  jobs: readonly JobLine[];
  /** Where the reader is, kept up to date. */
  place: { top: number };
  /** Called when the end of the known jobs comes into view. */
  onEnd: () => void;
}

export function Rows({ jobs, place, onEnd }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [count, setCount] = useState(20);
  const [chosenId, setChosen] = useState("");
  const now = useNow(deploymentTime); // one for all: as they are scrolled, rows come and go in every frame
  const measure = () => {
    if (box.current === null) return;
    place.top = box.current.scrollTop;
    setFirst(Math.max(0, Math.floor(box.current.scrollTop / ROW) - SPARE));
    setCount(Math.ceil(box.current.clientHeight / ROW) + 2 * SPARE);
  };
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = place.top;
  }, []);
  useEffect(() => {
    const sizes = new ResizeObserver(measure);
    if (box.current) sizes.observe(box.current);
    return () => sizes.disconnect();
  }, []);
  useAnchor(jobs, box, first);
  const last = Math.min(jobs.length, first + count);
  // The row that Tab reaches is always in the document: the chosen one, or one in view.
  const row = jobs.findIndex((job) => job.id === chosenId);
  const chosen = row >= first && row < last ? row : Math.min(last - 1, first && first + SPARE);
  useEffect(() => {
    if (last >= jobs.length) onEnd();
  }, [last, jobs.length]);

  const choose = (index: number) => {
    const row = Math.max(0, Math.min(jobs.length - 1, index));
    setChosen(jobs[row]?.id ?? "");
    reveal(box.current, row);
    measure();
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`#row-${row} a`)?.focus());
  };
  const pressed = (event: KeyboardEvent) => {
    const step = STEPS[event.key]?.(Math.max(1, count - 2 * SPARE - 1), chosen, jobs.length);
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(step);
  };
  return (
    <div class="table" role="table" aria-label="Jobs" aria-rowcount={jobs.length + 1} onKeyDown={pressed}>
      <div role="rowgroup">
        <div class="row head" role="row" aria-rowindex={1}>
          {COLUMNS.map((name) => (
            <span role="columnheader" key={name}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <div class="rows" role="rowgroup" ref={box} onScroll={measure} tabIndex={-1}>
        <div class="room" role="presentation" style={{ height: `${jobs.length * ROW}px` }}>
          {jobs.slice(first, last).map((job, index) => (
            <Row key={job.id} job={job} index={first + index} isChosen={first + index === chosen} now={now} />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Jobs that are added above the visible rows do not move these. */
function useAnchor(jobs: readonly JobLine[], box: { current: HTMLDivElement | null }, first: number): void {
  const before = useRef<readonly JobLine[]>(jobs);
  useLayoutEffect(() => {
    const anchor = before.current[first && first + SPARE]?.id;
    const [was, is] = [before.current, jobs].map((list) => list.findIndex((job) => job.id === anchor));
    before.current = jobs;
    if (box.current === null || box.current.scrollTop === 0 || was === undefined || is === undefined) return;
    if (was >= 0 && is >= 0 && was !== is) box.current.scrollTop += (is - was) * ROW;
  }, [jobs]);
}

const STEPS: Record<string, (page: number, chosen: number, length: number) => number> = {
  ArrowDown: (_, chosen) => chosen + 1,
  ArrowUp: (_, chosen) => chosen - 1,
  PageDown: (page, chosen) => chosen + page,
  PageUp: (page, chosen) => chosen - page,
  Home: () => 0,
  End: (_page, _chosen, length) => length - 1,
};

function reveal(box: HTMLDivElement | null, index: number): void {
  if (box === null) return;
  const top = index * ROW;
  if (top < box.scrollTop) box.scrollTop = top;
  if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
}

function Row({ job, index, isChosen, now }: { job: JobLine; index: number; isChosen: boolean; now: number }) {
  const remark = job.waiting?.text ?? job.lastError ?? job.message ?? "";
  return (
    <div class="row" role="row" id={`row-${index}`} aria-rowindex={index + 2} style={{ top: `${index * ROW}px` }}>
      <span role="cell" class="cell-state">
        <State word={job.state} />
      </span>
      <span role="cell" class="cell-job">
        <a href={link(["jobs", job.id])} tabIndex={isChosen ? 0 : -1}>
          {job.name}
        </a>
        <span class="remark" title={remark}>
          {remark}
        </span>
      </span>
      <span role="cell" class="cell-more">{job.experiment}</span>
      <span role="cell" class="cell-more">{job.cluster}</span>
      <span role="cell" class="cell-most" title={job.owner}>
        {job.owner === undefined ? (
          job.door
        ) : (
          <a href={link(["jobs"], { owner: job.owner })} tabIndex={-1}>
            {job.owner}
          </a>
        )}
        {job.team && (
          <a class="remark" href={link(["jobs"], { team: job.team })} title={`team ${job.team}`} tabIndex={-1}>
            {job.team}
          </a>
        )}
      </span>
      <span role="cell" class="cell-most">{job.nodes}</span>
      <span role="cell" class="cell-time">
        <Time at={job.createdAt} />
      </span>
      <span role="cell" class="cell-more">{elapsed(job.createdAt, job.startedAt ?? job.endedAt, now)}</span>
      <span role="cell" class="cell-more">{elapsed(job.startedAt, job.endedAt, now)}</span>
    </div>
  );
}
