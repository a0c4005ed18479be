/** Files that a job wrote, read in parts, as the API gives them. */
import { call, notOurs } from "../../api";
import { ApiError } from "../../apierror";

const CHUNK = 8 << 20;

export interface Part {
  data: Uint8Array<ArrayBuffer>;
  /** Where it begins in the file. */
  start: number;
  /** Bytes of the whole file. */
  size: number;
}

/** A file of a job, in its current attempt or in the one that is named. */
export interface WrittenFile {
  id: string;
  directory: string;
  path: string;
  attempt?: string;
}

function read({ id, directory, path, attempt }: WrittenFile, options: Begin & { headers?: Record<string, string> }): Promise<Response> {
  const place = ["jobs", id, "files", directory, ...path.split("/")].map(encodeURIComponent).join("/");
  return call(place, { ...options, query: { attempt } });
}

/** At most the first bytes of a file; `size` is what the list of files said. */
export async function readStart(file: WrittenFile, bytes: number, size: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await begin(file, `bytes=0-${bytes - 1}`, { signal }, size);
  return answer === undefined ? new Uint8Array() : (await partOf(answer)).data.subarray(0, bytes);
}

/** The bytes from one to another, both included. */
export async function readPart(file: WrittenFile, first: number, last: number, signal?: AbortSignal): Promise<Part> {
  return partOf(await read(file, { headers: { range: `bytes=${first}-${last}` }, ...(signal && { signal }) }));
}

/** At most the last bytes of a file. */
export async function readLast(file: WrittenFile, bytes: number, signal: AbortSignal): Promise<Part> {
  return partOf(await read(file, { headers: { range: `bytes=-${bytes}` }, signal }));
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
  /** Its bytes, as far as they are known. */
  size?: number | undefined;
  /** Whether more may be written at its end meanwhile: then as much is saved as there was at first. */
  grows: boolean;
  /** Called with the bytes that are read and those of the file, where that is known. */
  onPart: (read: number, size: number | undefined) => void;
}

/** Save a file on the reader's disk. The browser shows nothing of it, so nothing in it runs. */
export async function saveFile(file: WrittenFile, { grows, onPart, size: listed }: Saving): Promise<void> {
  const parts: Blob[] = []; // which the browser may keep on the disk
  let tag = "";
  let size: number | undefined;
  for (let start = 0; start < (size ?? 1); ) {
    const condition: Record<string, string> = tag && !grows ? { "if-match": tag } : {};
    const range = `bytes=${start}-${Math.min(start + CHUNK, size ?? Infinity) - 1}`;
    let arrived = start;
    const onPiece = (bytes: number) => onPart((arrived += bytes), size);
    const answer = start === 0 ? await begin(file, range, { onPiece }, listed) : await read(file, { headers: { range, ...condition }, onPiece });
    if (answer === undefined) break;
    const part = await ours(answer).blob();
    tag = answer.headers.get("etag") ?? "";
    size ??= span(answer, part.size).size;
    parts.push(part);
    start += part.size;
    onPart(start, size);
    if (part.size === 0) break;
  }
  saveBlob(new Blob(parts, { type: "application/octet-stream" }), file.path.split("/").at(-1) ?? "file");
}

/** Put bytes on the reader's disk. */
export function saveBlob(bytes: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

type Begin = { signal?: AbortSignal; onPiece?: (bytes: number) => void };

/**
 * The answer with the first bytes of a file, undefined where it has none. `size` is what was known of it: an empty
 * file has no byte that can be asked for, so it is asked for as a whole; it may have grown since.
 */
async function begin(file: WrittenFile, range: string, options: Begin, size?: number): Promise<Response | undefined> {
  if (size === 0) {
    const whole = await read(file, options).catch(failed(413, 0)); // too large by now, or sent elsewhere for its size
    if (whole !== undefined) return whole;
  }
  return read(file, { ...options, headers: { range } }).catch(failed(416));
}

/** Undefined for a refusal with one of these statuses; throws any other. */
function failed(...statuses: number[]) {
  return (error: unknown): undefined => {
    if (!(error instanceof ApiError && statuses.includes(error.status))) throw error;
  };
}
