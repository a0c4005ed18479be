/** The files of a folder that a person drops or picks. */

export interface FolderFile {
  /** Below the folder, with slashes. */
  path: string;
  data: Uint8Array<ArrayBuffer>;
}

export interface Folder {
  name: string;
  files: FolderFile[];
}

/** Bytes of all files, before they are packed: more is not even read. */
const MOST_BYTES = 4 << 20;
const MOST_FILES = 200;

/** A folder that cannot be sent from the page, and what to do instead. */
export class FolderError extends Error {}

const tooLarge = (name: string) =>
  new FolderError(`${name} is too large to be sent from the page. Send it with the command: slipway run ${name}`);

/** The dropped folder, or the text of a dropped file. Call it synchronously in the event: later the browser returns nothing. */
export function dropped(data: DataTransfer): Promise<Folder | string | undefined> {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const [file] = data.files;
  const folder = entries.find((entry) => entry.isDirectory);
  if (folder !== undefined) return read(folder as FileSystemDirectoryEntry);
  return file === undefined ? Promise.resolve(undefined) : file.text();
}

/** The folder picked in the browser's dialog. */
export async function picked(list: FileList): Promise<Folder | undefined> {
  const chosen = [...list].map((file) => ({ file, steps: file.webkitRelativePath.split("/") }));
  const [name] = chosen[0]?.steps ?? [];
  if (name === undefined) return undefined;
  const visible = chosen.filter(({ steps }) => !steps.slice(1).some(isHidden));
  return { name, files: await loaded(name, visible.map(({ file, steps }) => ({ file, path: steps.slice(1).join("/") }))) };
}

async function read(folder: FileSystemDirectoryEntry): Promise<Folder> {
  const files: { file: File; path: string }[] = [];
  const walk = async (directory: FileSystemDirectoryEntry, prefix: string): Promise<void> => {
    for (const entry of await children(directory)) {
      if (isHidden(entry.name)) continue;
      if (entry.isDirectory) await walk(entry as FileSystemDirectoryEntry, `${prefix}${entry.name}/`);
      else files.push({ file: await fileOf(entry as FileSystemFileEntry), path: prefix + entry.name });
      if (files.length > MOST_FILES) throw tooLarge(folder.name);
    }
  };
  await walk(folder, "");
  return { name: folder.name, files: await loaded(folder.name, files) };
}

async function loaded(name: string, files: { file: File; path: string }[]): Promise<FolderFile[]> {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (files.length > MOST_FILES || bytes > MOST_BYTES) throw tooLarge(name);
  const reads = files.map(async ({ file, path }) => ({ path, data: new Uint8Array(await file.arrayBuffer()) }));
  return (await Promise.all(reads)).toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** As with `slipway run`, hidden files and Python's caches are not sent. */
const isHidden = (name: string) => name.startsWith(".") || name === "__pycache__";

async function children(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all; // a reader gives its entries in parts
    all.push(...some);
  }
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));
