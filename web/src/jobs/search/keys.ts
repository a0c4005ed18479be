/** A search for jobs: words, and tokens `key:value`. Its members are those of the address, and the API's parameters. */
import { midnight, shortDay } from "../../days";

export type Filters = Record<string, string>;

/** The keys of tokens that are offered. */
export const KEYS = ["state", "team", "owner", "experiment", "cluster", "label", "source", "sweep", "since", "until"] as const;
/** Those that addresses have besides: how a name begins, and a part of an error. */
const MORE_KEYS = ["name", "error"] as const;
const ALL_KEYS: readonly string[] = [...KEYS, ...MORE_KEYS];
/** Keys of which a token may have several values, with commas. */
const SEVERAL = new Set(["state", "source"]);

export const STATES = ["running", "accepted", "submitting", "queued", "succeeded", "failed", "cancelled", "lost", "rejected"];
export const WAITING = ["accepted", "submitting", "queued"];
export const ACTIVE = ["running", ...WAITING];
export const SOURCES = ["drop", "inventory", "http", "queue", "rerun"];

export interface Token {
  key: string;
  /** As it is shown. */
  text: string;
  /** What leaves the search with it. */
  members: readonly string[];
}

/** The members of an address that belong to the search. */
export function searchOf(query: Filters): Filters {
  const members = [...ALL_KEYS, "contains", "order"].filter((name) => query[name]);
  return Object.fromEntries(members.map((name) => [name, query[name] ?? ""]));
}

/** The query of the API for a search. */
export function apiQuery(query: Filters): Filters {
  const search = searchOf(query);
  if (search["name"] && !search["name"].endsWith("*")) search["name"] += "*";
  if (search["order"] !== "ended") delete search["order"];
  return search;
}

/** The tokens of a search, in the order of the address. */
export function tokensOf(search: Filters): Token[] {
  const { since = "", until = "" } = search;
  const day = dayBetween(since, until);
  return Object.entries(search).flatMap(([key, value]): Token[] => {
    if (!ALL_KEYS.includes(key) || value === "") return [];
    if (day === undefined || !["since", "until"].includes(key)) return [{ key, text: key === "since" || key === "until" ? timeText(value) : value, members: [key] }];
    return key === "since" ? [{ key: "on", text: day, members: ["since", "until"] }] : [];
  });
}

/** A day of the reader, where two moments are its begin and its end. */
function dayBetween(since: string, until: string): string | undefined {
  const begin = new Date(since);
  if (Number.isNaN(begin.getTime()) || midnight(begin).getTime() !== begin.getTime()) return undefined;
  return midnight(begin, 1).getTime() === Date.parse(until) ? shortDay(begin) : undefined;
}

/** A moment as a day where it begins one; a duration as it is. */
export function timeText(value: string): string {
  if (/^\d+[smhdw]$/.test(value)) return `${value} ago`;
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return value;
  return midnight(time).getTime() === time.getTime() ? shortDay(time) : `${shortDay(time)}, ${time.toLocaleTimeString()}`;
}

/** The members of a day. */
export function dayMembers(day: Date): Filters {
  return { since: midnight(day).toISOString(), until: midnight(day, 1).toISOString() };
}

/** The member that a new token adds: of keys with several values beside those that are there. */
export function added(search: Filters, key: string, value: string): Filters {
  const before = SEVERAL.has(key) ? (search[key] ?? "").split(",").filter((one) => one && one !== value) : [];
  return { [key]: [...before, value].join(",") };
}

const TOKEN = /(\w+):(?:"([^"]*)"|(\S+))/g;

/** What was typed, as members and as the words that remain; a value with blanks is in quotes. */
export function typed(text: string, search: Filters): { members: Filters; words: string } {
  let members: Filters = {};
  const words = text.replace(TOKEN, (whole, key: string, quoted: string | undefined, bare: string | undefined) => {
    if (!ALL_KEYS.includes(key)) return whole;
    members = { ...members, ...added({ ...search, ...members }, key, quoted ?? bare ?? "") };
    return "";
  });
  return { members, words: words.replace(/\s+/g, " ").trim() };
}

/** The piece that is being typed: its key, if it has one, and the rest. */
export function pieceOf(text: string): { before: string; key: string; part: string } {
  const [, before = "", last = ""] = /^(.*?)((?:\w+:"[^"]*|\S*))$/s.exec(text) ?? [];
  const [, key = "", part = ""] = /^(\w+):"?(.*)$/s.exec(last) ?? [];
  return ALL_KEYS.includes(key) ? { before, key, part } : { before, key: "", part: last };
}
