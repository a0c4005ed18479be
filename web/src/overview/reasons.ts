/** Reasons to wait, in words that people use; the API has a word for each, and some are the scheduler's own. */
import type { WaitingGroup } from "../answers";
import { visibleName } from "../format";
import { WAITING } from "./facts";

interface Reason {
  /** As a title of all jobs that wait for it, of which this is the name of one. */
  title: (subject: string, name: string) => string;
  /** After a number of jobs. */
  kind: string;
}

const REASONS = new Map<string, Reason>(
  Object.entries({
    TeamQuota: { title: (team) => `Quota of the team ${team}`, kind: "for a quota" },
    PersonQuota: { title: (team) => `Other jobs of the same person in the team ${team}`, kind: "for their own others" },
    JobPaused: { title: () => "Paused by a person", kind: "paused" },
    // A job of a sweep has its name, and a number after it.
    SweepTurn: { title: (_, name) => `Turn in the sweep ${name.replace(/-\d+$/, "")}`, kind: "for their sweep" },
    Dependency: { title: () => "Another job", kind: "for a job" },
    Paused: { title: () => "The deployment is paused", kind: "for the pause" },
    HourlyTurn: { title: () => "The limit of jobs in an hour", kind: "for their hour" },
    ActiveLimit: { title: () => "The limit of active jobs", kind: "for a limit" },
    ClusterSilent: { title: (cluster) => `${cluster} does not answer`, kind: "for a silent cluster" },
    ClusterNotConfigured: { title: (cluster) => `${cluster} is not configured any more`, kind: "for a missing cluster" },
    NodesBusy: { title: (cluster) => `Nodes of ${cluster}, which are busy`, kind: "for nodes" },
    NodesPreparing: { title: (cluster) => `Nodes of ${cluster}, which are being prepared`, kind: "for nodes" },
    InTurn: { title: (cluster) => `Jobs before them on ${cluster}`, kind: "for nodes" },
    Resources: { title: (cluster) => `Nodes of ${cluster}`, kind: "for nodes" },
    Priority: { title: (cluster) => `Jobs before them on ${cluster}`, kind: "for nodes" },
    "": { title: () => "The reason is not known yet", kind: "just begun" },
  } satisfies Record<string, Reason>),
);

/** `PartitionDown` as `Partition down`. */
function spaced(word: string): string {
  if (!/^[A-Za-z]+$/.test(word)) return word;
  const text = word.replace(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function titleOf({ word, subject, oldest }: WaitingGroup): string {
  const reason = REASONS.get(word);
  return reason ? reason.title(subject, visibleName(oldest.name)) : subject ? `${spaced(word)}: ${subject}` : spaced(word);
}

/** The sentence of the API, without what the page says beside it. */
export function reasonOf({ text }: WaitingGroup): string {
  return text.replace(/^can never start as things stand: /, "") || "it has only just arrived";
}

export function kindOf({ word }: WaitingGroup): string {
  return REASONS.get(word)?.kind ?? "for a cluster";
}

/** The conditions of a list of these jobs, as near as a list has them. */
export function listOf({ word, subject, jobs, oldest }: WaitingGroup): Record<string, string> | string {
  if (jobs === 1) return oldest.id;
  const state = WAITING.join();
  if (word === "TeamQuota" || word === "PersonQuota") return { state, team: subject };
  if (word === "SweepTurn") return { sweep: subject };
  return subject && word !== "Dependency" ? { state, cluster: subject } : { state };
}
