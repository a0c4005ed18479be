/** What the archive of a job's code has. Names and links in it are what its sender wrote. */
import type { CodeEntry, CodeListing } from "../answers";
import { json } from "../api";
import { ApiError } from "../apierror";
import { size, visibleName } from "../format";

const SHAPE = { entries: [{ name: "text" }] } as const;
/** Refusals that stay as they are: the archive was deleted, or cannot be listed. */
const FINAL = new Set([410, 422]);

/** The listing, or that of one file with its text, or the refusal that asking again does not change. Throws ApiError. */
export async function listingOrReason(path: string, signal: AbortSignal, file = ""): Promise<CodeListing | ApiError> {
  try {
    return await json<CodeListing>(path, { shape: SHAPE, signal, query: { file } });
  } catch (error) {
    if (error instanceof ApiError && FINAL.has(error.status)) return error;
    throw error;
  }
}

/** The size of a file, or what else it is. */
export function kindOf({ name, bytes, link }: CodeEntry): string {
  if (link !== undefined) return "link";
  return name.endsWith("/") ? "folder" : size(bytes);
}

export function remarkOn({ executable, link, escaped }: CodeEntry): string {
  const words = [link !== undefined && `to ${visibleName(link)}`, executable && "executable", escaped && "with escapes: \\\\ is a backslash, \\xff a byte that is not UTF-8"];
  return words.filter(Boolean).join(", ");
}
