/** The reader's place: the part of the address after `#`, so that the address can be kept and shared. */
import { useEffect, useState } from "preact/hooks";

export interface Route {
  /** `#/jobs/<id>/log` is `["jobs", "<id>", "log"]`. */
  steps: string[];
  query: Record<string, string>;
}

export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const steps = path.split("/").filter(Boolean).map(decoded);
  // They would lead a call out of its path: no view has such a step.
  if (steps.some((step) => step === "." || step === "..")) return { steps: ["."], query: {} };
  return { steps: steps.length ? steps : ["overview"], query: Object.fromEntries(new URLSearchParams(query)) };
}

export function link(steps: readonly string[], query: Record<string, string> = {}): string {
  const filled = Object.entries(query).filter(([, value]) => value !== "");
  const search = filled.length ? `?${new URLSearchParams(filled)}` : "";
  return `#/${steps.map(encodeURIComponent).join("/")}${search}`;
}

/**
 * Change members of the query without a new entry in the history, as while typing; an empty text removes one.
 *
 * They are added to the current address, and a reader who has moved to another view stays there.
 */
export function changeQuery(route: Route, change: Record<string, string>): void {
  const present = parseRoute(location.hash);
  if (link(present.steps) !== link(route.steps)) return;
  history.replaceState(null, "", link(present.steps, { ...present.query, ...change }));
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const follow = () => setRoute(parseRoute(location.hash));
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, []);
  return route;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step; // not an address that the page made
  }
}
