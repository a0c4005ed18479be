import { useMemo, useState } from "preact/hooks";
import { Notice, Refusal, Time } from "../parts/parts";
import { usePoll } from "../poll";
import { link, changeQuery, type Route } from "../route";
import { Batch } from "./batch/batch";
import { useChosen } from "./chosen";
import { Compare } from "./compare/compare";
import { First } from "./first";
import { grouped, Groups, KINDS } from "./groups";
import "./jobs.css";
import { type KeptList, listOf } from "./kept";
import { Rows } from "./rows";
import { apiQuery, type Filters, searchOf } from "./search/keys";
import { States } from "./states";
import { LazySweep } from "./sweep/lazy";
import { Sweeps } from "./sweeps";

/** Milliseconds. An idle view asks four times a minute: three times for the list, once for its counts; or twice, and for a sweep and a curve. */
const [LIST, LIST_OF_SWEEP] = [20_000, 30_000];

/** The jobs of a search, or all sweeps. */
export function Jobs({ route }: { route: Route }) {
  const isAll = Object.keys(apiQuery(route.query)).length === 0;
  if (isAll && headingOf(route.query) === "Sweeps") return <Sweeps ways={<Ways query={route.query} hasSweeps />} />;
  return <SearchedJobs route={route} />;
}

function SearchedJobs({ route }: { route: Route }) {
  const query = apiQuery(route.query);
  const key = JSON.stringify(query);
  const list = useMemo(() => listOf(route.query), [key, JSON.stringify(route.query)]);
  const { feed } = list;
  const polled = usePoll(key, (signal) => feed.read(signal), { latest: query["sweep"] ? LIST_OF_SWEEP : LIST });
  const { jobs, next, searchedTo } = feed.list;
  const [wanted, want] = useState("");
  const readOlder = async (signal: AbortSignal) => (wanted === "" ? feed.list : feed.more(wanted, signal));
  const older = usePoll(`older ${key}`, readOlder, { version: wanted, isFinal: () => true });
  const more = () => want(feed.list.next ?? "");
  const isSweep = Boolean(query["sweep"]);
  const isEmpty = polled.value !== undefined && jobs.length === 0;
  return (
    <main class="page jobs">
      <div class="title">
        <h1>{headingOf(route.query)}</h1>
        {jobs.length > 0 && (
          <span class="count">
            {headingOf(route.query) === "Sweeps" && `${grouped(jobs, "sweep").length.toLocaleString()} of `}
            {jobs.length.toLocaleString()}
            {next === null ? "" : "+"} {jobs.length === 1 ? "job" : "jobs"}
          </span>
        )}
        {jobs.length > 0 && <Ways query={route.query} hasSweeps={isSweep || jobs.some((job) => job.sweep)} />}
      </div>
      {!isSweep && headingOf(route.query) === "Jobs" && <States route={route} />}
      <Refusal error={polled.error ?? older.error} readAt={polled.readAt} />
      {searchedTo && (
        <Notice kind="info">
          Looked back to <Time at={searchedTo} />.{" "}
          <button type="button" onClick={more}>
            Go on
          </button>
        </Notice>
      )}
      {polled.value === undefined && !polled.error && jobs.length === 0 && <p role="status">Loading…</p>}
      {isEmpty && (key === "{}" && !searchedTo ? <First /> : <None route={route} isWhole={!searchedTo} />)}
      {jobs.length > 0 && <Results key={key} route={route} list={list} more={more} again={polled.again} />}
    </main>
  );
}

function None({ route, isWhole }: { route: Route; isWhole: boolean }) {
  const clear = () => changeQuery(route, Object.fromEntries(Object.keys(searchOf(route.query)).map((name) => [name, ""])));
  return (
    <section class="panel none">
      <p role="status">{isWhole ? "No job fits this search." : "No job has matched so far."}</p>
      <button type="button" onClick={clear}>
        Clear the search
      </button>
    </section>
  );
}

interface ResultsProps {
  route: Route;
  list: KeptList;
  more: () => void;
  again: () => void;
}

/** The jobs as rows, as groups, as a sweep, or as numbers that are compared. */
function Results({ route, list, more, again }: ResultsProps) {
  const { jobs, next, searchedTo } = list.feed.list;
  const { query } = route;
  const chosen = useChosen(jobs);
  const way = wayOf(query);
  const group = KINDS.find((kind) => kind === query["group"]);
  const choose = (members: Filters) => changeQuery(route, members);
  if (way === "groups" && group) return <Groups kind={group} jobs={jobs} onMore={next === null ? undefined : more} />;
  if (way === "compare") return <Compare jobs={jobs} chosen={query} onChoose={choose} />;
  if (way === "sweep") return <LazySweep key={query["sweep"]} id={query["sweep"] ?? ""} jobs={jobs} chosen={query} onChoose={choose} onMore={next === null ? undefined : more} />;
  const finish = () => {
    chosen.none();
    again();
  };
  return (
    <>
      <section class="panel list" aria-label="List">
        <Rows jobs={jobs} isByEnd={query["order"] === "ended"} chosen={chosen} place={list} onEnd={searchedTo ? () => undefined : more} />
      </section>
      <Batch search={searchOf(query)} jobs={jobs} hasMore={next !== null} chosen={chosen} onDone={finish} />
    </>
  );
}

function headingOf(query: Filters): string {
  const way = wayOf(query);
  if (way === "groups" && query["group"] === "sweep") return "Sweeps";
  return way === "sweep" ? "Sweep" : "Jobs";
}

type Way = "list" | "groups" | "sweep" | "compare";

/** How the jobs of an address are shown: those of a sweep as one, if nothing else is asked for. */
function wayOf(query: Filters): Way {
  if (KINDS.some((kind) => kind === query["group"])) return "groups";
  if (query["view"] === "compare") return "compare";
  return query["sweep"] && query["view"] !== "list" ? "sweep" : "list";
}

function Ways({ query, hasSweeps }: { query: Filters; hasSweeps: boolean }) {
  const way = wayOf(query);
  const ways: [label: string, isHere: boolean, change: Filters][] = [
    ["List", way === "list", { view: query["sweep"] ? "list" : "", group: "" }],
    ...KINDS.filter((kind) => kind === "experiment" || hasSweeps).map((kind): [string, boolean, Filters] => [`By ${kind}`, way === "groups" && query["group"] === kind, { view: "", group: kind }]),
    ["Compare", way === "compare", { view: "compare", group: "" }],
  ];
  if (query["sweep"]) ways.unshift(["Sweep", way === "sweep", { view: "", group: "" }]);
  return (
    <nav class="seg ways" aria-label="Ways to see the jobs">
      {ways.map(([label, isHere, change]) => (
        <a key={label} href={link(["jobs"], { ...query, ...change })} aria-current={isHere ? "page" : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
