/** Files that a job wrote, read in parts, as the API gives them. */
import { call } from "../api";

const CHUNK = 8 << 20;

function place(id: string, directory: string, path: string): string {
  return ["jobs", id, "files", directory, ...path.split("/")].map(encodeURIComponent).join("/");
}

/** At most the first bytes of a file. */
export async function readStart(id: string, directory: string, path: string, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await call(place(id, directory, path), { headers: { range: `bytes=0-${bytes - 1}` } });
  return new Uint8Array(await answer.arrayBuffer());
}

/** Save a file on the reader's disk. The browser shows nothing of it, so nothing in it runs. */
export async function saveFile(id: string, directory: string, path: string): Promise<void> {
  const parts: ArrayBuffer[] = [];
  let tag = "";
  for (let start = 0, size = 1; start < size; ) {
    const condition: Record<string, string> = tag ? { "if-match": tag } : {};
    const range = `bytes=${start}-${start + CHUNK - 1}`;
    const answer = await call(place(id, directory, path), { headers: { range, ...condition } });
    const part = await answer.arrayBuffer();
    tag = answer.headers.get("etag") ?? "";
    size = Number(answer.headers.get("content-range")?.split("/")[1] ?? part.byteLength);
    parts.push(part);
    start += part.byteLength;
    if (part.byteLength === 0) break;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, { type: "application/octet-stream" }));
  link.download = path.split("/").at(-1) ?? "file";
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
