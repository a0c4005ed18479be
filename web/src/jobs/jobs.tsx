import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError } from "../api";
import { Notice, Refusal } from "../parts/parts";
import { usePoll } from "../poll";
import { replaceQuery, type Route } from "../route";
import { JobsFeed } from "./feed";
import { apiQuery, FilterBar, type Filters } from "./filters";
import { First } from "./first";
import { Rows } from "./rows";

export function Jobs({ route }: { route: Route }) {
  const query = apiQuery(route.query);
  const key = JSON.stringify(query);
  const feed = useMemo(() => new JobsFeed(query), [key]);
  const [, draw] = useState({});
  const polled = usePoll(key, (signal) => feed.read(signal));
  const { jobs, note } = feed.list;
  const more = async () => {
    try {
      await feed.more();
      draw({});
    } catch (error) {
      if (!(error instanceof ApiError)) throw error; // the poll shows it
    }
  };
  useSlash();
  return (
    <main class="jobs">
      <h1>Jobs</h1>
      <FilterBar filters={route.query} onChange={(filters: Filters) => replaceQuery(route, filters)} />
      <Refusal error={polled.error} readAt={polled.readAt} />
      {note && <Notice kind="info">{note}</Notice>}
      {polled.value === undefined && !polled.error && <p role="status">Loading…</p>}
      {polled.value !== undefined && jobs.length === 0 && (key === "{}" ? <First /> : <Notice kind="info">No job fits these filters.</Notice>)}
      {jobs.length > 0 && <Rows key={key} jobs={jobs} onEnd={more} />}
    </main>
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
