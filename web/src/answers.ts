/** The members of the API's answers that the page shows; docs/reference/openapi.json describes all of them. */
import type { Shape } from "./shape";

export interface Waits {
  word: string;
  text: string;
  since: string;
  /** Its place in its team's line, from 1 on. */
  position?: number;
}

export interface Job {
  id: string;
  name: string;
  experiment?: string;
  cluster?: string;
  door: string;
  state: string;
  reason?: string;
  message?: string;
  lastError?: string;
  waiting?: Waits;
  exitCode?: number;
  attempt: number;
  cancelRequested?: boolean;
  labels?: Record<string, string>;
  resources?: Record<string, unknown>;
  createdAt: string;
  startedAt?: string;
  endedAt?: string;
  receipt: string;
  nodes?: number;
  priority?: string;
  /** the id of the caller who asked for it with a token */
  owner?: string;
  team?: string;
  /** What all its attempts used, once it has ended; no GPU-hours where the GPUs of its nodes are not known. */
  usage?: { nodeHours: number; gpuHours: number; cost?: number; currency?: string };
  rerunOf?: string;
  sweep?: { id: string; index: number; values: Record<string, unknown> };
  engine?: { engine: string; cluster: string; experiment: string; name: string; id?: string };
}

/** What every view of a job shows of it. */
export const JOB = { id: "text", name: "text", state: "text", createdAt: "text" } as const satisfies Shape;
export const JOBS = { jobs: [JOB] } as const satisfies Shape;

export interface HistoryEntry {
  sequence: number;
  state: string;
  at: string;
  attempt: number;
  reason?: string;
  note?: string;
}

export interface Finding {
  code: string;
  severity: "error" | "warning" | "hint";
  pointer: string;
  message: string;
  remedy: string;
  file?: string;
  line?: number;
  column?: number;
  endLine?: number;
  endColumn?: number;
  /** The line as it may be shown, or a part of it between "…", and which of its characters are faulty. */
  source?: string;
  caret?: number;
  width?: number;
  edits?: { line: number; column: number; endLine: number; endColumn: number; text: string }[];
}

export interface JobDetail extends Job {
  drop?: { container: string; folder: string };
  notify?: { url: string; secret: string | null; events: string[] }[];
  problems?: Finding[];
  /** The text of a rejected document, as far as it may be shown. */
  received?: string;
  history?: HistoryEntry[];
}

export interface JobPage {
  jobs: Job[];
  next: string | null;
  note?: string;
}

export const ENDS: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled", "lost", "rejected"]);
