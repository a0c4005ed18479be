/** Files that a job wrote, read in parts, as the API gives them. */
import { call, notOurs } from "../api";
import { ApiError } from "../apierror";

const CHUNK = 8 << 20;

export interface Part {
  data: Uint8Array<ArrayBuffer>;
  /** Where it begins in the file. */
  start: number;
  /** Bytes of the whole file. */
  size: number;
}

function place(id: string, directory: string, path: string): string {
  return ["jobs", id, "files", directory, ...path.split("/")].map(encodeURIComponent).join("/");
}

/** At most the first bytes of a file. */
export async function readStart(id: string, directory: string, path: string, bytes: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  return (await readPart(id, directory, path, 0, bytes - 1, signal).catch(emptied(0)))?.data ?? new Uint8Array();
}

/** The bytes from one to another, both included. */
export async function readPart(id: string, directory: string, path: string, first: number, last: number, signal?: AbortSignal): Promise<Part> {
  return partOf(await call(place(id, directory, path), { headers: { range: `bytes=${first}-${last}` }, ...(signal && { signal }) }));
}

/** At most the last bytes of a file. */
export async function readLast(id: string, directory: string, path: string, bytes: number, signal: AbortSignal): Promise<Part> {
  return partOf(await call(place(id, directory, path), { headers: { range: `bytes=-${bytes}` }, signal }));
}

async function partOf(answer: Response): Promise<Part> {
  const data = new Uint8Array(await ours(answer).arrayBuffer());
  const { start, size } = span(answer, data.length);
  return { data, start, size };
}

/** The API sends every file as one to be saved; a page of a proxy is not taken for a file. */
function ours(answer: Response): Response {
  if (answer.headers.get("content-disposition")?.startsWith("attachment")) return answer;
  throw notOurs("The answer is not a file of the job");
}

/** Which bytes an answer has, and how many there are. */
function span(answer: Response, bytes: number): { start: number; size: number } {
  const [, start, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer.headers.get("content-range") ?? "") ?? [];
  return { start: Number(start ?? 0), size: Number(size ?? bytes) };
}

interface Saving {
  /** Whether more may be written at its end meanwhile: then as much is saved as there was at first. */
  grows: boolean;
  /** Called with the bytes that are read and those of the file, where that is known. */
  onPart: (read: number, size: number | undefined) => void;
}

/** Save a file on the reader's disk. The browser shows nothing of it, so nothing in it runs. */
export async function saveFile(id: string, directory: string, path: string, { grows, onPart }: Saving): Promise<void> {
  const parts: Blob[] = []; // which the browser may keep on the disk
  let tag = "";
  let size: number | undefined;
  for (let start = 0; start < (size ?? 1); ) {
    const condition: Record<string, string> = tag && !grows ? { "if-match": tag } : {};
    const range = `bytes=${start}-${Math.min(start + CHUNK, size ?? Infinity) - 1}`;
    let read = start;
    const onPiece = (bytes: number) => onPart((read += bytes), size);
    const answer = await call(place(id, directory, path), { headers: { range, ...condition }, onPiece }).catch(emptied(start));
    if (answer === undefined) break;
    const part = await ours(answer).blob();
    tag = answer.headers.get("etag") ?? "";
    size ??= span(answer, part.size).size;
    parts.push(part);
    start += part.size;
    onPart(start, size);
    if (part.size === 0) break;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type: "application/octet-stream" }));
  link.download = path.split("/").at(-1) ?? "file";
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** An empty file has no byte that can be asked for. */
function emptied(start: number) {
  return (error: unknown): undefined => {
    if (start > 0 || !(error instanceof ApiError) || error.status !== 416) throw error;
  };
}
