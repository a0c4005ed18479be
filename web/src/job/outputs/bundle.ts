/** All that a job wrote as one file, which the browser puts together out of the parts that the API answers. */
import type { OutputDirectories, OutputEntries } from "../../answers";
import { json } from "../../api";
import { ApiError } from "../../apierror";
import { size } from "../../format";
import { readPart, saveBlob } from "./save";

/** Bytes of all the files: the browser keeps them until the file is whole. */
const MOST = 2 ** 31;
const CHUNK = 8 << 20;

interface Member {
  directory: string;
  path: string;
  bytes: number;
  modified: string | null;
}

/** Save all files of all output directories of one attempt as a ZIP file. Throws ApiError, also for too much. */
export async function saveAll(id: string, attempt: string, onPart: (read: number, all: number) => void): Promise<void> {
  const calls = `jobs/${encodeURIComponent(id)}`;
  const { outputs } = await json<OutputDirectories>(`${calls}/outputs`, { query: { attempt }, shape: { outputs: [{ id: "text" }] } });
  const members: Member[] = [];
  for (const one of outputs) await list(id, attempt, one.id, "", members);
  const all = members.reduce((sum, { bytes }) => sum + bytes, 0);
  if (all > MOST) throw new ApiError(413, `The files have ${size(all)} together`, `Save them with the command: slipway download ${id}`, false);
  let read = 0;
  const parts = async function* (member: Member) {
    for (let start = 0; start < member.bytes; start += CHUNK) {
      const { data } = await readPart({ id, directory: member.directory, path: member.path, attempt }, start, Math.min(start + CHUNK, member.bytes) - 1);
      onPart((read += data.length), all);
      yield data;
    }
  };
  const { downloadZip } = await import("client-zip");
  const files = members.map((member) => ({
    name: `${member.directory}/${member.path}`,
    input: parts(member),
    ...(member.modified !== null && { lastModified: new Date(member.modified) }),
  }));
  saveBlob(await downloadZip(files).blob(), `${id}.zip`);
}

/** The files of a folder and of those below it; what cannot be requested is left out. */
async function list(id: string, attempt: string, directory: string, folder: string, members: Member[]): Promise<void> {
  let after = "";
  do {
    const query = { directory, path: folder || ".", after, attempt };
    const { files, next } = await json<OutputEntries>(`jobs/${encodeURIComponent(id)}/files`, { query, shape: { files: [{ name: "text" }] } });
    for (const { name, bytes, modified, link, leftOut } of files) {
      const path = folder ? `${folder}/${name}` : name;
      if (link || leftOut) continue;
      if (bytes === null) await list(id, attempt, directory, path, members);
      else members.push({ directory, path, bytes, modified });
    }
    after = next ?? "";
  } while (after !== "");
}
