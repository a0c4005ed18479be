import { useMemo } from "preact/hooks";
import type { Overview } from "../answers";
import { Feed } from "../api";
import { deploymentTime } from "../clock";
import { ago, exactTime } from "../days";
import { Sign } from "../parts/icon";
import { LATEST, usePoll } from "../poll";
import { changeQuery, type Route } from "../route";
import { ACTIVE, searchOf, WAITING } from "./search/keys";

/** What is chosen together, in the order in which people look for it. */
const CHOICES: readonly (readonly [label: string, states: readonly string[]])[] = [
  ["running", ["running"]],
  ["waiting", WAITING],
  ["failed", ["failed"]],
  ["succeeded", ["succeeded"]],
  ["cancelled", ["cancelled"]],
  ["lost", ["lost"]],
  ["rejected", ["rejected"]],
];
/** Shown only where there are some. */
const RARE = new Set(["lost", "rejected"]);
/** The conditions that an overview takes; where there is another one, it cannot count. */
const COUNTABLE = new Set(["owner", "team", "experiment", "contains", "since", "state", "order"]);

/** The states of a search. */
export function statesOf(text: string): Set<string> {
  return new Set(text.split(",").flatMap((word) => (word === "active" ? ACTIVE : word ? [word] : [])));
}

/** The states with their numbers of jobs, each to be chosen or left out, and the order of the list. */
export function States({ route }: { route: Route }) {
  const search = searchOf(route.query);
  const overview = useCounts(search);
  const chosen = statesOf(search["state"] ?? "");
  const isByEnd = search["order"] === "ended";
  const toggle = (states: readonly string[]) => {
    const next = new Set(chosen);
    const isOn = states.every((state) => next.has(state));
    for (const state of states) {
      if (isOn) next.delete(state);
      else next.add(state);
    }
    const words = ACTIVE.every((state) => next.has(state)) ? ["active", ...[...next].filter((state) => !ACTIVE.includes(state))] : [...next];
    changeQuery(route, { state: words.join(","), ...(ACTIVE.some((state) => next.has(state)) ? { order: "" } : {}) });
  };
  return (
    <div class="chips" role="group" aria-label="States and order">
      {CHOICES.map(([label, states]) => {
        const number = overview && states.reduce((sum, state) => sum + (overview.counts[state] ?? 0), 0);
        const isOn = states.every((state) => chosen.has(state));
        if (RARE.has(label) && !number && !isOn) return null;
        return (
          <button key={label} type="button" class="pill" aria-pressed={isOn} title={overview && !ACTIVE.includes(states[0] ?? "") ? `ended since ${ago(new Date(overview.since), new Date(deploymentTime()))}` : undefined} onClick={() => toggle(states)}>
            <Sign of={label} size={13} />
            {label} {number !== undefined && <b>{number.toLocaleString()}</b>}
          </button>
        );
      })}
      <span class="soft order">sorted by</span>
      <div class="seg" role="group" aria-label="Order">
        <button type="button" aria-pressed={!isByEnd} title="The newest first" onClick={() => changeQuery(route, { order: "" })}>
          creation
        </button>
        <button type="button" aria-pressed={isByEnd} title="Only jobs that have ended, the last end first" onClick={() => changeQuery(route, { order: "ended", state: [...chosen].filter((state) => !ACTIVE.includes(state)).join(",") })}>
          end
        </button>
      </div>
      {overview && (
        <span class="soft since">
          ended since <time dateTime={overview.since} title={exactTime(new Date(overview.since))}>{ago(new Date(overview.since), new Date(deploymentTime()))}</time>
        </span>
      )}
    </div>
  );
}

/** What fits the search but for its states; undefined where that cannot be counted. */
function useCounts(search: Record<string, string>): Overview | undefined {
  const { state: _, order: __, ...conditions } = search;
  const isCountable = Object.keys(conditions).every((name) => COUNTABLE.has(name));
  const key = JSON.stringify(conditions);
  const feed = useMemo(() => new Feed<Overview>("overview", conditions, { counts: {} }), [key]);
  const read = async (signal: AbortSignal) => (isCountable ? feed.read(signal) : undefined);
  return usePoll(`counts ${key}`, read, { latest: 4 * LATEST, isFinal: (one) => one === undefined }).value;
}
