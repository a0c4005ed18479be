import { useEffect, useMemo, useState } from "preact/hooks";
import { Notice, Refusal } from "../parts/parts";
import { LATEST, usePoll } from "../poll";
import { link, changeQuery, type Route } from "../route";
import { Compare } from "./compare/compare";
import { apiQuery, FilterBar, type Filters } from "./filters";
import { First } from "./first";
import { Groups, KINDS } from "./groups";
import { type KeptList, listOf } from "./kept";
import { Rows } from "./rows";
import { SweepSummary } from "./sweep";

export function Jobs({ route }: { route: Route }) {
  const query = apiQuery(route.query);
  const key = JSON.stringify(query);
  const list = useMemo(() => listOf(route.query), [key, JSON.stringify(route.query)]);
  const { feed } = list;
  const { sweep } = query;
  // A sweep is asked for beside its jobs, so each of the two is asked for half as often.
  const polled = usePoll(key, (signal) => feed.read(signal), { latest: sweep ? 2 * LATEST : LATEST });
  const { jobs, note } = feed.list;
  const [wanted, want] = useState("");
  const readOlder = async (signal: AbortSignal) => (wanted === "" ? feed.list : feed.more(wanted, signal));
  const older = usePoll(`older ${key}`, readOlder, { version: wanted, isFinal: () => true });
  const more = () => want(feed.list.next ?? "");
  useSlash();
  return (
    <main class="jobs">
      <h1>Jobs</h1>
      <FilterBar filters={route.query} onChange={(change: Filters) => changeQuery(route, change)} />
      <Refusal error={polled.error ?? older.error} readAt={polled.readAt} />
      {note && <Notice kind="info">{note}</Notice>}
      {sweep && <SweepSummary key={sweep} id={sweep} job={jobs[0]} />}
      {polled.value === undefined && !polled.error && jobs.length === 0 && <p role="status">Loading…</p>}
      {polled.value !== undefined && jobs.length === 0 && (key === "{}" ? <First /> : <Notice kind="info">No job fits these filters.</Notice>)}
      {jobs.length > 0 && <Results key={key} route={route} list={list} more={more} />}
    </main>
  );
}

interface ResultsProps {
  route: Route;
  list: KeptList;
  more: () => void;
}

/** The jobs as rows, as groups, or as numbers that are compared. */
function Results({ route, list, more }: ResultsProps) {
  const { jobs, next } = list.feed.list;
  const { query } = route;
  const group = KINDS.find((kind) => kind === query["group"]);
  const choose = (chosen: Filters) => changeQuery(route, chosen);
  return (
    <>
      <nav class="ways" aria-label="Ways to see the jobs">
        <Way query={query} change={{ view: "", group: "" }} label="List" isHere={!group && query["view"] !== "compare"} />
        {KINDS.filter((kind) => kind === "experiment" || jobs.some((job) => job.sweep)).map((kind) => (
          <Way key={kind} query={query} change={{ view: "", group: kind }} label={`By ${kind}`} isHere={group === kind} />
        ))}
        <Way query={query} change={{ view: "compare", group: "" }} label="Compare" isHere={!group && query["view"] === "compare"} />
      </nav>
      {group ? (
        <Groups kind={group} jobs={jobs} onMore={next === null ? undefined : more} />
      ) : query["view"] === "compare" ? (
        <Compare jobs={jobs} chosen={query} onChoose={choose} />
      ) : (
        <Rows jobs={jobs} place={list} onEnd={more} />
      )}
    </>
  );
}

function Way({ query, change, label, isHere }: { query: Filters; change: Filters; label: string; isHere: boolean }) {
  return (
    <a href={link(["jobs"], { ...query, ...change })} aria-current={isHere ? "page" : undefined}>
      {label}
    </a>
  );
}

/** The key `/` goes to the search, as on many pages. */
function useSlash(): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== "/" || (event.target as HTMLElement).closest("input, select, textarea")) return;
      event.preventDefault();
      document.getElementById("filter-name")?.focus();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}
