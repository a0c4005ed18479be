/** Why a call failed. */
import type { Finding } from "./answers";

/** An error of the API, or of the way there; `remedy` is what the caller can do. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly remedy: string,
    readonly wantsToken: boolean,
    readonly findings: readonly Finding[] = [],
    /** The members of the problem document. */
    readonly problem: Record<string, unknown> = {},
  ) {
    super(message);
  }

  /** Milliseconds from now until the deployment takes the same call, as it said. */
  get pause(): number {
    return Math.max(0, Number(this.problem["until"] ?? 0) - Date.now());
  }

  /** Whether the API refused it, and no program before it. */
  get isOfTheApi(): boolean {
    return this.problem["isOurs"] === true;
  }

  /** Whether the same call may succeed later: there was no answer, there were too many requests, or the deployment has a problem. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

/** Any failure as one that can be shown: JSON of another shape than the API's makes errors of every kind. */
export function shownError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  console.warn(error);
  return new ApiError(0, "The page cannot read the answer", "It belongs to another version, or something answers in the deployment's place: load the page again.", false);
}
