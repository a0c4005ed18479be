/** The document of an earlier job, to be changed and submitted as a new one. */
import type { JobDetail, Receipt } from "../answers";
import { JOB } from "../shape";
import { json } from "../api";

/** The text that the API shows in place of a secret. */
const MASK = "***";

export interface Earlier {
  text: string;
  /** Remarks for the writer. */
  notes: string[];
}

/** `mayNameTeam` says whether the new job may belong to a team. */
export async function earlier(id: string, mayNameTeam: (team: string) => boolean, signal: AbortSignal): Promise<Earlier> {
  const path = `jobs/${encodeURIComponent(id)}`;
  const [job, { accepted }] = await Promise.all([json<JobDetail>(path, { shape: JOB, signal }), json<Receipt>(`${path}/receipt`, { signal })]);
  if (accepted === undefined) return { text: job.received ?? "", notes: [...received(job)] };
  const team = job.team !== undefined && mayNameTeam(job.team) ? job.team : undefined;
  const members = { name: job.name, experiment: job.experiment, team, labels: job.labels, resources: job.resources, code: sentCode(job) };
  const text = `${JSON.stringify({ ...members, spec: accepted }, null, 2)}\n`;
  return { text, notes: [...remarks(job, text, team)] };
}

/** The code that a client sent, as a message names it; a drop's is read from its folder again. */
function sentCode({ code }: JobDetail): { sha256: string; at: string } | undefined {
  return typeof code === "object" && code.origin === "upload" ? { sha256: code.sha256, at: code.at } : undefined;
}

function* received(job: JobDetail): Generator<string> {
  if (job.received === undefined) return yield "This job was never accepted, and its document is not kept, so there is none to begin with.";
  yield `This is the document of ${job.name} as it was received. What you submit is a new job.`;
  if (job.received.includes(MASK)) yield `Secrets, and values of members that are not known, are not shown: write them again where ${MASK} stands.`;
  if (job.drop) yield `It was dropped in ${job.drop.container}/${job.drop.folder}; to run it from there, upload the corrected file to that folder.`;
}

function* remarks(job: JobDetail, text: string, team: string | undefined): Generator<string> {
  yield `This is the completed document of ${job.name}. What you submit is a new job; its receivers are the deployment's own, unless you add "notify".`;
  if (text.includes(MASK)) yield `Secrets are not shown: write them again where ${MASK} stands.`;
  if (job.team !== team) yield `It belongs to the team ${job.team}, which you are not in: the new job belongs to your own.`;
  if (sentCode(job)) yield `"code" names the code that it ran. The deployment takes it from who sent it, or from their team; anyone else sends their own folder with slipway run.`;
  if (typeof job.code === "object" && job.code.origin === "folder")
    yield `It ran the files of a folder of drops, which "code": {"folder": …} names as they are now; slipway rerun ${job.id} runs the same ones.`;
  if (job.drop) yield `Its scripts are read from ${job.drop.container}/${job.drop.folder} as they are there now.`;
}
