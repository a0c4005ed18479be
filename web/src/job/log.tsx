import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ENDS, type JobDetail } from "../answers";
import { call, json } from "../api";
import { Notice, Refusal } from "../parts/parts";
import { usePoll } from "../poll";
import { plain, runs } from "./ansi";
import { saveFile } from "./save";
import { type Block, Lines } from "./lines";

/** With the poll of the job beside it, four requests a minute. */
const LATEST = 30_000;
/** Pixels of a line, for the blocks that are not in view. */
const LINE = 19;

/** The log of one process of a job, followed while it runs. */
export function Log({ job }: { job: JobDetail }) {
  const names = useLogNames(job);
  const [chosen, choose] = useState("");
  const [isFollowed, follow] = useState(true);
  const [isWrapped, wrap] = useState(true);
  const [search, find] = useState("");
  const name = names.includes(chosen) ? chosen : (names[0] ?? "stdout.txt");
  const { lines, polled } = useLog(job, name);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isFollowed && box.current) box.current.scrollTop = box.current.scrollHeight;
  });
  return (
    <section aria-labelledby="log">
      <h2 id="log">Log</h2>
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
        <button type="button" onClick={() => void saveFile(job.id, "stdouterr", name)}>
          Download
        </button>
      </form>
      <Refusal error={polled.error} readAt={polled.readAt} />
      {lines.dropped > 0 && <Notice kind="info">{lines.dropped} older lines are not shown; download the file to get them.</Notice>}
      <div class={`log ${isWrapped ? "wrapped" : ""}`} ref={box} role="log" aria-label={name} aria-live="off" tabIndex={0}>
        {lines.blocks.map((block) => (
          <BlockText key={block.id} block={block} count={block.lines.length} search={search} />
        ))}
        {lines.last && <pre>{plain(lines.last)}</pre>}
        {lines.count === 0 && !lines.last && polled.value !== undefined && <p class="quiet">Nothing was written yet.</p>}
      </div>
    </section>
  );
}

function Check({ label, value, onChange }: { label: string; value: boolean; onChange: (value: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={value} onChange={(event) => onChange(event.currentTarget.checked)} /> {label}
    </label>
  );
}

function BlockText({ block, count, search }: { block: Block; count: number; search: string }) {
  return useMemo(() => {
    const shown = search === "" ? block.lines : block.lines.filter((line) => plain(line).includes(search));
    if (shown.length === 0) return <></>;
    const coloured = shown.some((line) => line.includes("\x1b["));
    const text = coloured ? shown.map((line) => [...runs(line).map(ink), "\n"]) : `${shown.map(plain).join("\n")}\n`;
    return <pre style={{ containIntrinsicHeight: `auto ${shown.length * LINE}px` }}>{text}</pre>;
  }, [block, count, search]);
}

function ink({ text, style }: { text: string; style: string }) {
  return style === "" ? text : <span class={style}>{text}</span>;
}

/** What each process of the job wrote to: standard output by rank, then standard error, then the rest. */
function useLogNames(job: JobDetail): string[] {
  const [names, setNames] = useState(["stdout.txt", "stderr.txt"]);
  useEffect(() => {
    const ends = new AbortController();
    json<{ files: { name: string; bytes: number | null }[] }>(`jobs/${encodeURIComponent(job.id)}/files`, { signal: ends.signal })
      .then(({ files }) => files.filter((file) => file.bytes !== null).map((file) => file.name))
      .then((all) => all.length && setNames(all.toSorted(byKind)))
      .catch(() => undefined); // the log itself says what is wrong
    return () => ends.abort();
  }, [job.id, job.state]);
  return names;
}

function useLog(job: JobDetail, name: string) {
  const run = job.history?.findLast((entry) => entry.state === "queued")?.sequence ?? 0;
  const key = [job.id, name, job.attempt, run].join("\n"); // an offset belongs to one run
  const state = useMemo(() => ({ lines: new Lines(), offset: "0", decoder: new TextDecoder(), more: true }), [key]);
  const ended = ENDS.has(job.state);
  const read = async (signal: AbortSignal) => {
    let hasMore = true;
    while (hasMore) {
      const answer = await call(`jobs/${encodeURIComponent(job.id)}/log`, { query: { file: name, offset: state.offset }, signal });
      const data = new Uint8Array(await answer.arrayBuffer());
      if (signal.aborted) break;
      state.offset = answer.headers.get("slipway-next-offset") ?? state.offset;
      state.more = answer.headers.get("slipway-more") === "true";
      state.lines.append(state.decoder.decode(data, { stream: true }));
      hasMore = data.length > 0 && state.more;
    }
    return state.offset;
  };
  const polled = usePoll(`${key}\n${ended}`, read, { latest: LATEST, isFinal: () => ended || !state.more });
  return { lines: state.lines, polled };
}

/** Beginnings of names, in their order; every name has the last one. */
const KINDS = ["stdout", "stderr", ""];
const ORDER = new Intl.Collator("en", { numeric: true });

function byKind(a: string, b: string): number {
  const place = (name: string) => KINDS.findIndex((one) => name.startsWith(one));
  return place(a) - place(b) || ORDER.compare(a, b);
}
