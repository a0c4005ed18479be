import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { ENDS, type JobDetail } from "../../answers";
import { json, PATIENCE } from "../../api";
import { Outcome, useDeed } from "../../parts/deed";
import { Loading, Refusal } from "../../parts/parts";
import { usePoll } from "../../poll";
import { coloured, plain } from "./ansi";
import { Attempts } from "../attempts";
import { Download } from "../download";
import { type Block, Order } from "./lines";
import { Part, useMatches } from "./matches";
import { Tails } from "./tail";

/** With the poll of the job beside it, four requests a minute. */
const LATEST = 30_000;
/** Pixels of a line, for the blocks that are not in view. */
const LINE = 19;
/** Pixels from the end within which a reader is at the end. */
const NEAR = 40;

/** The log of one process of a job, followed while it runs; `attempt` is an earlier one, or "". */
export function Log({ job, attempt }: { job: JobDetail; attempt: string }) {
  const { names, readNames } = useLogNames(job, attempt);
  return (
    <section aria-labelledby="log">
      <h2 id="log">Log</h2>
      <Attempts job={job} attempt={attempt} tab="log" />
      {names === undefined ? <Loading /> : <Processes job={job} attempt={attempt} names={names} readNames={readNames} />}
    </section>
  );
}

interface ProcessesProps {
  job: JobDetail;
  attempt: string;
  names: readonly string[];
  readNames: ReadNames;
}

function Processes({ job, attempt, names, readNames }: ProcessesProps) {
  const [chosen, choose] = useState("");
  const [isFollowed, follow] = useState(true);
  const [isWrapped, wrap] = useState(true);
  const [search, find] = useState("");
  const deed = useDeed(PATIENCE.GET);
  const choices = choicesOf(names);
  const choice = choices.find((one) => one.label === chosen) ?? choices[0] ?? USUAL_CHOICE;
  const { tails, polled } = useTails(job, attempt, choice.names, readNames);
  const matches = useMatches(tails, search);
  const { box, hold, scrolled } = usePlace(isFollowed && !tails.isCut, () => follow(false));
  const ended = attempt !== "" || ENDS.has(job.state);
  const earlier = () => {
    follow(false);
    return deed.click(async () => {
      await tails.earlier();
      hold();
    });
  };
  const latest = () => {
    tails.restart();
    follow(true);
    polled.again();
  };
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label>
          Process
          <select value={choice.label} onChange={(event) => choose(event.currentTarget.value)}>
            {choices.map(({ label }) => (
              <option key={label}>{label}</option>
            ))}
          </select>
        </label>
        <label>
          Lines with
          <input type="search" value={search} onInput={(event) => find(event.currentTarget.value)} />
        </label>
        <Check label="Follow" value={isFollowed} onChange={follow} />
        <Check label="Wrap" value={isWrapped} onChange={wrap} />
        {choice.names.map((path, index) => (
          <Download
            key={path}
            file={{ id: job.id, directory: "stdouterr", path, attempt }}
            size={tails.all[index]?.isBegun ? tails.all[index].size : undefined}
            grows={!ended}
            {...(choice.names.length > 1 && { shown: path })}
          />
        ))}
      </form>
      {choice.names.length > 1 && <p class="quiet">Lines of standard error have a bar beside them.</p>}
      <Refusal error={polled.error} readAt={polled.readAt} />
      <Part tails={tails} count={search === "" ? undefined : matches.count} onEarlier={() => void earlier()} onLatest={latest} />
      <Outcome deed={deed} />
      <div class={`log ${isWrapped ? "wrapped" : ""}`} ref={box} role="log" aria-label={choice.label} aria-live="off" tabIndex={0} onScroll={scrolled}>
        {tails.blocks.map(({ block, isError }) => (
          <BlockText key={block.id} block={block} shown={matches.linesOf(block)} isError={isError && choice.names.length > 1} />
        ))}
        {tails.all.map(({ lines, isError }) => lines.last && matches.has(lines.last) && <pre class={isError && choice.names.length > 1 ? "stderr" : ""}>{plain(lines.last)}</pre>)}
        {tails.size === 0 && polled.value !== undefined && <p class="quiet">{ended ? "Nothing was written." : "Nothing was written yet."}</p>}
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

function BlockText({ block, shown, isError }: { block: Block; shown: readonly string[]; isError: boolean }) {
  return useMemo(() => {
    if (shown.length === 0) return <></>;
    const hasColours = shown.some((line) => line.includes("\x1b["));
    const text = hasColours ? coloured(shown).map((line) => [...line.map(ink), "\n"]) : `${shown.map(plain).join("\n")}\n`;
    return <pre class={isError ? "stderr" : ""} style={{ containIntrinsicHeight: `auto ${shown.length * LINE}px` }}>{text}</pre>;
  }, [block, shown, shown.length, isError]);
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
function useLogNames(job: JobDetail, attempt: string): { names: readonly string[] | undefined; readNames: ReadNames } {
  const [names, setNames] = useState<readonly string[]>();
  const readNames = async (signal: AbortSignal) => {
    try {
      const { files } = await json<{ files: { name: string; bytes: number | null }[] }>(`jobs/${encodeURIComponent(job.id)}/files`, { query: { attempt }, shape: { files: [{ name: "text" }] }, signal });
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
  }, [job.id, job.state, attempt]);
  return { names, readNames };
}

function same(before: readonly string[] | undefined, now: readonly string[]): readonly string[] {
  return before?.join("\n") === now.join("\n") ? before : now;
}

/** After so many calls without news, one call looks for other processes; sooner while nothing was written at all. */
const OTHERS = { silent: 1, written: 3 };

function useTails(job: JobDetail, attempt: string, names: readonly string[], readNames: ReadNames) {
  const run = job.history?.findLast((entry) => entry.state === "queued")?.sequence ?? 0;
  const key = [job.id, ...names, attempt || job.attempt, attempt || run].join("\n"); // an offset belongs to one run
  const tails = useMemo(() => new Tails(job.id, names, attempt, new Order()), [key]);
  const ended = attempt !== "" || ENDS.has(job.state);
  const idle = useRef(0);
  const next = useRef(0);
  const read = async (signal: AbortSignal) => {
    if (!ended && idle.current >= OTHERS[tails.size === 0 ? "silent" : "written"]) {
      idle.current = 0;
      next.current += 1;
      await readNames(signal);
      return tails.place;
    }
    const before = tails.place;
    // While nothing comes, one call looks at one of the files, in turn.
    const one = ended || idle.current === 0 ? undefined : (next.current += 1);
    idle.current += 1; // also where the call is refused
    await tails.read(signal, one);
    if (tails.place !== before) idle.current = 0;
    return tails.place;
  };
  const polled = usePoll(`${key}\n${ended}`, read, { latest: LATEST, isFinal: () => ended || !tails.more });
  return { tails, polled };
}

/** What a reader can choose: both streams of a process, or one file. */
interface Choice {
  label: string;
  names: readonly string[];
}

const USUAL_CHOICE: Choice = { label: "stdout.txt", names: ["stdout.txt"] };

/** Both streams of each process that has two, then the files. */
function choicesOf(names: readonly string[]): Choice[] {
  const pairs = names.flatMap((name) => {
    const other = name.replace(/^stdout/, "stderr");
    if (names === USUAL || other === name || !names.includes(other)) return []; // none of the usual ones need be there
    const rank = name.slice("stdout-".length, -".txt".length);
    return [{ label: rank === "" ? "both streams" : `${rank}: both streams`, names: [name, other] }];
  });
  return [...pairs, ...names.map((name) => ({ label: name, names: [name] }))];
}

/** Beginnings of names, in their order; every name has the last one. */
const KINDS = ["stdout", "stderr", ""];
const ORDER = new Intl.Collator("en", { numeric: true });

function byKind(a: string, b: string): number {
  const place = (name: string) => KINDS.findIndex((one) => name.startsWith(one));
  return place(a) - place(b) || ORDER.compare(a, b);
}
