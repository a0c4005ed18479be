import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Search } from "lucide";
import { ENDS, type JobDetail } from "../../answers";
import { PATIENCE } from "../../api";
import { size } from "../../format";
import { isTyping } from "../../header/keys";
import { Outcome, useDeed } from "../../parts/deed";
import { Icon } from "../../parts/icon";
import { Notice } from "../../parts/parts";
import { link } from "../../route";
import { Attempts } from "../attempts";
import { Download } from "../outputs/download";
import type { Live } from "../live";
import { Choices } from "./choices";
import { List } from "./list";
import { type Choice, Rows } from "./rows";
import type { Tails } from "./tail";

interface Props {
  job: JobDetail;
  live: Live;
  /** Changes when anything new has come. */
  version: object | undefined;
  /** An earlier attempt, or "". */
  attempt: string;
  /** The process, by the file that it writes; "" for the first one. */
  file: string;
  onFile: (file: string) => void;
  /** The address of a line to open at; of a job that failed, its error. */
  at: string;
  marked: number;
}

/** What one process wrote to both of its streams, in the order in which it came. */
export function Log({ job, live, version, attempt, file, onFile, at, marked }: Props) {
  const [streams, choose] = useState<Choice["streams"]>("both");
  const [search, find] = useState("");
  const [isFolded, fold] = useState(true);
  const [opened, open] = useState<ReadonlySet<string>>(new Set());
  const [isWrapped, wrap] = useState(true);
  const [isFollowed, follow] = useState(at === "");
  const [round, again] = useState(0);
  const field = useFindKey();
  const deed = useDeed(PATIENCE.GET);
  const rows = useMemo(() => new Rows(), [live, file]);
  const tails = live.log(file);
  const shown = useMemo(() => rows.of(tails, { streams, search, isFolded, opened }), [rows, tails, version, round, streams, search, isFolded, opened]);
  const ended = attempt !== "" || ENDS.has(job.state);
  const read = (act: () => Promise<void>) =>
    deed.click(async () => {
      await act();
      again((number) => number + 1);
    });
  useEffect(() => {
    if (at === "") return;
    follow(false);
    find("");
    const colon = at.lastIndexOf(":");
    const tail = tails.all.find(({ name }) => name === at.slice(0, colon));
    const byte = Number(at.slice(colon + 1));
    if (tail !== undefined && byte < tail.lines.start) void read(() => tail.around(byte));
  }, [at, tails.isBegun]);
  const earlier = () => {
    follow(false);
    void read(() => tails.earlier());
  };
  const latest = () => {
    follow(true);
    void read(() => tails.latest());
  };
  return (
    <section class="panel log-panel" aria-labelledby="log">
      <header>
        <h2 id="log">Log</h2>
        {tails.size > 0 && <span class="count">{`${part(tails)}${job.state === "running" && attempt === "" ? " · it goes on" : ""}`}</span>}
        <span class="more">
          {tails.all.map(({ name, size: bytes }) => (
            <Download key={name} file={{ id: job.id, directory: "stdouterr", path: name, attempt }} size={bytes} grows={!ended} {...(tails.all.length > 1 && { shown: name })} />
          ))}
        </span>
      </header>
      <form class="tools" hidden={tails.size === 0 && !live.files?.length && job.attempt < 2} onSubmit={(event) => event.preventDefault()}>
        <Attempts job={job} attempt={attempt} part="log" />
        <Choices names={live.files ?? []} file={file} shown={tails.all[0]?.name ?? ""} onFile={onFile} streams={streams} onStreams={choose} hasErrors={tails.all.length > 1} />
        <label class="find">
          <Icon of={Search} size={14} />
          <span class="hidden">Lines with</span>
          <input ref={field} type="search" placeholder="Find" value={search} onInput={(event) => find(event.currentTarget.value)} />
          <kbd>f</kbd>
        </label>
        <Check label="Follow" value={isFollowed} onChange={follow} />
        <Check label="Wrap" value={isWrapped} onChange={wrap} />
        <Check label="Fold metrics" value={isFolded} onChange={fold} />
      </form>
      {live.note && <Notice kind="info">{live.note}</Notice>}
      <Part tails={tails} count={search === "" ? undefined : shown.length} onEarlier={earlier} onLatest={latest} />
      <Outcome deed={deed} />
      <List
        rows={shown}
        label={label(tails, file)}
        isWrapped={isWrapped}
        isFollowed={isFollowed && !tails.isCut}
        at={at}
        marked={marked}
        onLeave={() => follow(false)}
        onFold={(place) => open((before) => toggled(before, place))}
        hrefOf={(place) => link(["jobs", job.id, "log"], { attempt, at: place })}
      >
        {tails.size === 0 && version !== undefined && <p class="quiet">{ended ? "Nothing was written." : "Nothing was written yet."}</p>}
      </List>
    </section>
  );
}

/** The field that `f` leads to. */
function useFindKey() {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== "f" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      event.preventDefault();
      field.current?.focus();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
  return field;
}

function toggled(before: ReadonlySet<string>, one: string): ReadonlySet<string> {
  const after = new Set(before);
  if (!after.delete(one)) after.add(one);
  return after;
}

function label({ all }: Tails, file: string): string {
  return all.length > 1 ? "both streams" : (all[0]?.name ?? (file || "stdout.txt"));
}

function part({ all }: Tails): string {
  const lines = all.reduce((sum, { lines: one }) => sum + one.count + (one.last === "" ? 0 : 1), 0);
  return `${lines.toLocaleString("en")} ${lines === 1 ? "line" : "lines"}`;
}

interface PartProps {
  tails: Tails;
  /** Lines that a search found; undefined where none is made. */
  count: number | undefined;
  onEarlier: () => void;
  onLatest: () => void;
}

/** Which part of the log is here, what a search found in it, and how to load the rest. */
function Part({ tails, count, onEarlier, onLatest }: PartProps) {
  const { isCut } = tails;
  const isWhole = tails.start === 0 && !isCut;
  const what = isCut ? `${size(tails.held)} before its end` : `the last ${size(tails.held)}`;
  const extent = isWhole ? "the log" : `${what} of ${size(tails.size)}`;
  return (
    <div class="part">
      <span role="status">{count !== undefined && `${count.toLocaleString("en")} ${count === 1 ? "line" : "lines"} of ${extent}`}</span>
      {count === undefined && !isWhole && <span class="quiet">Here is {extent}.</span>}
      {tails.start > 0 && (
        <button type="button" class="bare" onClick={onEarlier}>
          Earlier lines
        </button>
      )}
      {isCut && (
        <button type="button" class="bare" onClick={onLatest}>
          Last lines
        </button>
      )}
    </div>
  );
}

function Check({ label: name, value, onChange }: { label: string; value: boolean; onChange: (value: boolean) => void }) {
  return (
    <label class="tick">
      <input type="checkbox" checked={value} onChange={(event) => onChange(event.currentTarget.checked)} /> {name}
    </label>
  );
}
