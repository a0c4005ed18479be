/** What the search offers while it is typed: keys, and the values that exist. */
import { useEffect, useState } from "preact/hooks";
import type { Overview, TeamsUsage } from "../../answers";
import { json } from "../../api";
import { dayTitle, midnight } from "../../days";
import { knownJobs } from "../kept";
import { dayMembers, type Filters, KEYS, pieceOf, SOURCES, STATES } from "./keys";

export interface Offer {
  id: string;
  text: string;
  note: string;
  /** The members of the search that it adds, or a key that is to be continued. */
  members?: Filters;
  key?: string;
}

/** Offers in view at once. */
const MOST = 12;
const DAYS = 8;
const NOTES: Record<(typeof KEYS)[number], string> = {
  state: "running, failed, …",
  team: "exactly this team",
  owner: "who asked for it",
  experiment: "exactly this experiment",
  cluster: "where it runs",
  label: "NAME or NAME=VALUE",
  source: "the way it arrived",
  sweep: "the jobs of one sweep",
  since: "created since then",
  until: "created before then",
};
const PERIODS = [
  ["1h", "the last hour"],
  ["1d", "the last day"],
  ["1w", "the last week"],
  ["4w", "the last four weeks"],
] as const;

/** The offers for what is typed; `values` are those of the key of its last piece. */
export function offersFor(text: string, values: readonly string[], now: Date): Offer[] {
  const { key, part } = pieceOf(text);
  const typed = part.toLowerCase();
  const fits = (one: string) => one.toLowerCase().includes(typed);
  if (key === "since" || key === "until") return times(key, now).filter(({ text: one, note }) => fits(one) || fits(note)).slice(0, MOST);
  if (key !== "") return values.filter(fits).slice(0, MOST).map((value) => ({ id: `${key}-${value}`, text: value, note: "", members: { [key]: value } }));
  const keys = KEYS.filter((one) => one.startsWith(typed)).map((one): Offer => ({ id: `key-${one}`, text: `${one}:`, note: NOTES[one], key: one }));
  if (typed === "") return keys;
  const states = STATES.filter((one) => one.startsWith(typed)).map((one): Offer => ({ id: `state-${one}`, text: `state:${one}`, note: "", members: { state: one } }));
  return [...lastDays(now).filter(({ text: one }) => fits(one)), ...states, ...keys].slice(0, MOST);
}

/** Each of the last days as a whole. */
function lastDays(now: Date): Offer[] {
  return Array.from({ length: DAYS }, (_, back) => midnight(now, -back)).map((day) => ({ id: `day-${day.getTime()}`, text: dayTitle(day, now), note: "created on that day", members: dayMembers(day) }));
}

function times(key: "since" | "until", now: Date): Offer[] {
  const periods = PERIODS.map(([value, note]): Offer => ({ id: `${key}-${value}`, text: value, note: key === "since" ? note : `before ${note}`, members: { [key]: value } }));
  const days = Array.from({ length: DAYS }, (_, back) => midnight(now, -back)).map((day): Offer => ({ id: `${key}-${day.getTime()}`, text: dayTitle(day, now), note: key === "since" ? "and later" : "and earlier", members: { [key]: day.toISOString() } }));
  return [...periods, ...days];
}

/** The values of a key that exist, as far as the page and the deployment know them; asked for once the key is typed. */
export function useValues(key: string): readonly string[] {
  const [values, setValues] = useState<{ key: string; all: readonly string[] }>({ key: "", all: [] });
  useEffect(() => {
    if (key === "") return undefined;
    const ends = new AbortController();
    const listed = valuesInList(key);
    setValues({ key, all: listed });
    valuesOfDeployment(key, ends.signal).then(
      (more) => setValues({ key, all: [...new Set([...listed, ...more])] }),
      () => undefined, // a search does without them
    );
    return () => ends.abort();
  }, [key]);
  return values.key === key ? values.all : [];
}

/** Those of the jobs in the list. */
function valuesInList(key: string): string[] {
  if (key === "state") return ["active", ...STATES];
  if (key === "source") return SOURCES;
  const all = knownJobs().flatMap((job) => {
    if (key === "label") return Object.entries(job.labels ?? {}).map(([name, value]) => `${name}=${value}`);
    if (key === "sweep") return job.sweep ? [job.sweep.id] : [];
    const value = key === "team" || key === "owner" || key === "experiment" || key === "cluster" ? job[key] : undefined;
    return value === undefined ? [] : [value];
  });
  return [...new Set(all)].toSorted();
}

async function valuesOfDeployment(key: string, signal: AbortSignal): Promise<string[]> {
  if (key === "team") {
    const { teams } = await json<TeamsUsage>("usage", { shape: { teams: [{ name: "text" }] }, signal });
    return teams.map(({ name }) => name);
  }
  if (key === "owner" || key === "experiment") {
    const { shares = [] } = await json<TeamsUsage>("usage", { query: { by: key }, signal });
    return shares.flatMap((one) => one[key] ?? []);
  }
  if (key !== "cluster") return [];
  const { clusters } = await json<Overview>("overview", { shape: { clusters: [{ name: "text" }] }, signal });
  return clusters.map(({ name }) => name);
}
