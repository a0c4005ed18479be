/** Files as one text: a tar archive, compressed, in base64. The same files make the same text. */
import type { FolderFile } from "./folder";

const BLOCK = 512;

export async function packed(files: readonly FolderFile[]): Promise<string> {
  const archive = new Blob([...files.flatMap(({ path, data }) => member(path, data)), new Uint8Array(2 * BLOCK)]);
  const compressed = archive.stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(compressed).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** One file as tar (ustar) has it: a header, the bytes, and zeros to the next block. Throws RangeError for a long path. */
function member(path: string, data: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const header = new Uint8Array(BLOCK);
  const put = (offset: number, text: string) => header.set(new TextEncoder().encode(text), offset);
  const octal = (number: number, digits: number) => number.toString(8).padStart(digits, "0");
  const [prefix, name] = shortened(path);
  put(0, name);
  put(100, `${octal(0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`); // mode, owner, group
  put(124, `${octal(data.length, 11)}\0${octal(0, 11)}\0`); // size, time
  put(148, " ".repeat(8)); // the sum counts its own place as blanks
  put(156, "0");
  put(257, "ustar\x0000");
  put(345, prefix);
  put(148, `${octal(header.reduce((sum, byte) => sum + byte, 0), 6)}\0 `);
  return [header, data, new Uint8Array((BLOCK - (data.length % BLOCK)) % BLOCK)];
}

/** A path in two parts, of at most 155 and 100 bytes. */
function shortened(path: string): [prefix: string, name: string] {
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  if (bytes(path) <= 100) return ["", path];
  for (let slash = path.indexOf("/"); slash > 0; slash = path.indexOf("/", slash + 1)) {
    const parts: [string, string] = [path.slice(0, slash), path.slice(slash + 1)];
    if (bytes(parts[0]) <= 155 && bytes(parts[1]) <= 100) return parts;
  }
  throw new RangeError(path);
}
