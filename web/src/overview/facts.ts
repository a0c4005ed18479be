/** An answer, and how its parts are counted. */
import type { ClusterNodes, Overview } from "../answers";
import { ago } from "../days";

/** What the parts of an overview are drawn from. */
export interface Facts {
  answer: Overview;
  /** The conditions of a list of the same jobs. */
  among: Record<string, string>;
  /** Milliseconds by the clock of the deployment, to ten seconds. */
  now: number;
}

/** The states of jobs that have not begun. */
export const WAITING = ["accepted", "submitting", "queued"] as const;
/** The states of jobs that went wrong. */
export const WRONG = ["failed", "lost", "rejected"] as const;

export function sumOf(counts: Overview["counts"], states: readonly string[]): number {
  return states.reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

/** `yesterday, 18:00`. */
export function sinceWhen(since: string, now: number): string {
  return ago(new Date(since), new Date(now));
}

/** The nodes of a cluster that could run something now, or after it has grown; null where that is not known. */
export function freeOf({ nodes, maximum }: ClusterNodes): { free: number; most: number } | null {
  if (nodes === null) return null;
  const present = Object.values(nodes).reduce((sum, count) => sum + count, 0);
  const most = Math.max(maximum ?? 0, present);
  return { free: (nodes["idle"] ?? 0) + most - present, most };
}
