import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ENDS, type JobDetail } from "../../answers";
import { json, PATIENCE } from "../../api";
import { Outcome, useDeed } from "../../parts/deed";
import { Loading, Refusal } from "../../parts/parts";
import { usePoll } from "../../poll";
import { coloured, plain } from "./ansi";
import { Download } from "../download";
import type { Block } from "./lines";
import { Part, useMatches } from "./matches";
import { Tail } from "./tail";

/** With the poll of the job beside it, four requests a minute. */
const LATEST = 30_000;
/** Pixels of a line, for the blocks that are not in view. */
const LINE = 19;
/** Pixels from the end within which a reader is at the end. */
const NEAR = 40;

/** The log of one process of a job, followed while it runs. */
export function Log({ job }: { job: JobDetail }) {
  const { names, readNames } = useLogNames(job);
  return (
    <section aria-labelledby="log">
      <h2 id="log">Log</h2>
      {names === undefined ? <Loading /> : <Processes job={job} names={names} readNames={readNames} />}
    </section>
  );
}

function Processes({ job, names, readNames }: { job: JobDetail; names: readonly string[]; readNames: ReadNames }) {
  const [chosen, choose] = useState("");
  const [isFollowed, follow] = useState(true);
  const [isWrapped, wrap] = useState(true);
  const [search, find] = useState("");
  const deed = useDeed(PATIENCE.GET);
  const name = names.includes(chosen) ? chosen : (names[0] ?? "stdout.txt");
  const { tail, polled } = useTail(job, name, readNames);
  const { lines } = tail;
  const matches = useMatches(lines, search);
  const { box, hold, scrolled } = usePlace(isFollowed && !lines.isCut, () => follow(false));
  const earlier = () => {
    follow(false);
    return deed.click(async () => {
      await tail.earlier();
      hold();
    });
  };
  const latest = () => {
    tail.restart();
    follow(true);
    polled.again();
  };
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Process
          <select value={name} onChange={(event) => choose(event.currentTarget.value)}>
            {names.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <label>
          Lines with
          <input type="search" value={search} onInput={(event) => find(event.currentTarget.value)} />
        </label>
        <Check label="Follow" value={isFollowed} onChange={follow} />
        <Check label="Wrap" value={isWrapped} onChange={wrap} />
        <Download id={job.id} directory="stdouterr" path={name} size={tail.isBegun ? tail.size : undefined} grows={!ENDS.has(job.state)} />
      </form>
      <Refusal error={polled.error} readAt={polled.readAt} />
      <Part tail={tail} count={search === "" ? undefined : matches.count} onEarlier={() => void earlier()} onLatest={latest} />
      <Outcome deed={deed} />
      <div class={`log ${isWrapped ? "wrapped" : ""}`} ref={box} role="log" aria-label={name} aria-live="off" tabIndex={0} onScroll={scrolled}>
        {lines.blocks.map((block) => (
          <BlockText key={block.id} block={block} shown={matches.linesOf(block)} />
        ))}
        {lines.last && matches.has(lines.last) && <pre>{plain(lines.last)}</pre>}
        {lines.end === 0 && polled.value !== undefined && <p class="quiet">{ENDS.has(job.state) ? "Nothing was written." : "Nothing was written yet."}</p>}
      </div>
    </>
  );
}

function Check({ label, value, onChange }: { label: string; value: boolean; onChange: (value: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => onChange(event.currentTarget.checked)} /> {label}
    </label>
  );
}

function BlockText({ block, shown }: { block: Block; shown: readonly string[] }) {
  return useMemo(() => {
    if (shown.length === 0) return <></>;
    const hasColours = shown.some((line) => line.includes("\x1b["));
    const text = hasColours ? coloured(shown).map((line) => [...line.map(ink), "\n"]) : `${shown.map(plain).join("\n")}\n`;
    return <pre style={{ containIntrinsicHeight: `auto ${shown.length * LINE}px` }}>{text}</pre>;
  }, [block, shown, shown.length]);
}

function ink({ text, style }: { text: string; style: string }) {
  return style === "" ? text : <span class={style}>{text}</span>;
}

/** Keeps the position of the reader in the box, at its end or where they scrolled, when lines are added before or after. */
function usePlace(isFollowed: boolean, onLeave: () => void) {
  const box = useRef<HTMLDivElement>(null);
  const top = useRef(0);
  const [held, holdAt] = useState<{ first: HTMLElement | null; offset: number }>();
  useEffect(() => {
    if (isFollowed && box.current) box.current.scrollTop = box.current.scrollHeight;
  });
  useLayoutEffect(() => {
    if (held?.first && box.current) box.current.scrollTop += held.first.offsetTop - held.offset;
  }, [held]);
  /** Call it after lines were added before the first: the reader still sees the same ones. */
  const hold = () => {
    const first = box.current?.querySelector("pre") ?? null;
    holdAt({ first, offset: first?.offsetTop ?? 0 });
  };
  const scrolled = () => {
    if (box.current === null) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    if (isFollowed && scrollTop < top.current && scrollHeight - scrollTop - clientHeight > NEAR) onLeave();
    top.current = scrollTop;
  };
  return { box, hold, scrolled };
}

type ReadNames = (signal: AbortSignal) => Promise<void>;
const USUAL = ["stdout.txt", "stderr.txt"];

/** The files that the processes of the job wrote: standard output by rank, then standard error, then the rest. Undefined until known. */
function useLogNames(job: JobDetail): { names: readonly string[] | undefined; readNames: ReadNames } {
  const [names, setNames] = useState<readonly string[]>();
  const readNames = async (signal: AbortSignal) => {
    try {
      const { files } = await json<{ files: { name: string; bytes: number | null }[] }>(`jobs/${encodeURIComponent(job.id)}/files`, { shape: { files: [{ name: "text" }] }, signal });
      const all = files.filter((file) => file.bytes !== null).map((file) => file.name);
      setNames((before) => (all.length === 0 ? (before ?? USUAL) : same(before, all.toSorted(byKind))));
    } catch {
      if (!signal.aborted) setNames((before) => before ?? USUAL); // the log itself says what is wrong
    }
  };
  useEffect(() => {
    const ends = new AbortController();
    void readNames(ends.signal);
    return () => ends.abort();
  }, [job.id, job.state]);
  return { names, readNames };
}

function same(before: readonly string[] | undefined, now: readonly string[]): readonly string[] {
  return before?.join("\n") === now.join("\n") ? before : now;
}

/** After so many calls without news, one call looks for other processes; sooner while nothing was written at all. */
const OTHERS = { silent: 1, written: 3 };

function useTail(job: JobDetail, name: string, readNames: ReadNames) {
  const run = job.history?.findLast((entry) => entry.state === "queued")?.sequence ?? 0;
  const key = [job.id, name, job.attempt, run].join("\n"); // an offset belongs to one run
  const tail = useMemo(() => new Tail(job.id, name), [key]);
  const ended = ENDS.has(job.state);
  const idle = useRef(0);
  const read = async (signal: AbortSignal) => {
    if (!ended && idle.current >= OTHERS[tail.size === 0 ? "silent" : "written"]) {
      idle.current = 0;
      await readNames(signal);
      return tail.place;
    }
    const before = tail.place;
    idle.current += 1;
    await tail.read(signal);
    if (tail.place !== before) idle.current = 0;
    return tail.place;
  };
  const polled = usePoll(`${key}\n${ended}`, read, { latest: LATEST, isFinal: () => ended || !tail.more });
  return { tail, polled };
}

/** Beginnings of names, in their order; every name has the last one. */
const KINDS = ["stdout", "stderr", ""];
const ORDER = new Intl.Collator("en", { numeric: true });

function byKind(a: string, b: string): number {
  const place = (name: string) => KINDS.findIndex((one) => name.startsWith(one));
  return place(a) - place(b) || ORDER.compare(a, b);
}
