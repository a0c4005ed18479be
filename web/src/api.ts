/** Calls of the HTTP API of the deployment that serves the page. */
import type { Finding } from "./answers";
import { setClock } from "./clock";
import { callerHeaders } from "./session";

/** The page lies at `…/api/ui/`. */
const API = new URL("../", document.baseURI);

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

  /** Whether the same call may be answered later: nothing came, too much was asked at once, or the deployment is not well. */
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

const UNKNOWN_CALLER = "slipway-unknown-caller";

/** Whenever a call is refused because the API does not know, or no longer knows, who calls. */
export function onUnknownCaller(act: () => void): () => void {
  window.addEventListener(UNKNOWN_CALLER, act);
  return () => window.removeEventListener(UNKNOWN_CALLER, act);
}

export type Query = Record<string, string | number | undefined>;

interface Options {
  method?: "GET" | "POST";
  query?: Query;
  body?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Called with each piece of the answer; from then on, its patience begins anew. */
  onPiece?: (bytes: number) => void;
}

/** Milliseconds until no answer counts as none: one who clicks waits less than a poll in the background. */
export const PATIENCE = { GET: 60_000, POST: 30_000 } as const;

export function address(path: string, query: Query = {}): URL {
  const url = new URL(path, API);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url;
}

/** The whole answer of one call. Throws ApiError for any refusal, and where nothing, or only a part, comes back. */
export async function call(path: string, options: Options = {}): Promise<Response> {
  const { signal, method = "GET", onPiece } = options;
  const late = new AbortController();
  let timer: number | undefined;
  const wait = () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(() => late.abort(), PATIENCE[method]);
  };
  const piece = (bytes: number) => {
    if (onPiece === undefined) return;
    wait();
    onPiece(bytes);
  };
  let answer: Response;
  wait();
  try {
    answer = await complete(await send(path, options, signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])), piece);
  } catch (error) {
    if (signal?.aborted) throw error;
    throw noAnswer(method, late.signal.aborted);
  } finally {
    window.clearTimeout(timer);
  }
  if (answer.status === 401) window.dispatchEvent(new Event(UNKNOWN_CALLER));
  if (!answer.ok && answer.status !== 304) throw await refusal(answer);
  return answer;
}

function send(path: string, { method = "GET", query, body, headers }: Options, signal: AbortSignal): Promise<Response> {
  const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
  return fetch(address(path, query), {
    method,
    headers: { ...callerHeaders(), ...type, ...headers },
    cache: "no-store",
    credentials: "omit",
    redirect: "error",
    signal,
    ...(body === undefined ? {} : { body }),
  });
}

/** A call that changes something may have arrived; all of them can be made twice. */
function noAnswer(method: "GET" | "POST", isLate: boolean): ApiError {
  const message = isLate ? `The deployment has not answered for ${PATIENCE[method] / 1000} s` : "The deployment does not answer";
  return new ApiError(0, message, method === "POST" ? "It may have done it all the same; to try again is safe." : "", false);
}

/** The same answer when all of it has come: the connection may break in its middle. */
async function complete(answer: Response, onPiece: (bytes: number) => void): Promise<Response> {
  const { status, headers } = answer;
  setClock(headers);
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, out) {
      onPiece(chunk.length);
      out.enqueue(chunk);
    },
  });
  const body = await new Response(answer.body?.pipeThrough(counted) ?? null).blob();
  return new Response([204, 304].includes(status) ? null : body, { status, headers });
}

async function refusal(answer: Response): Promise<ApiError> {
  const wantsToken = answer.headers.get("www-authenticate")?.startsWith("Bearer") ?? false;
  let problem: { detail?: string; remedy?: string; errors?: Finding[] } = {};
  try {
    problem = await answer.json();
  } catch {
    // A proxy or the host answered, with no problem document.
  }
  const detail = problem.detail ?? `The answer was ${answer.status}`;
  const members = { ...problem, retryAfter: Number(answer.headers.get("retry-after")) || 0 };
  return new ApiError(answer.status, detail, problem.remedy ?? "", wantsToken, problem.errors, members);
}

/** The JSON answer of one call. */
export async function json<T>(path: string, options: Options = {}): Promise<T> {
  return parsed(await call(path, options));
}

/** A proxy may answer in the API's place, with a page of its own. */
async function parsed<T>(answer: Response): Promise<T> {
  let value: unknown;
  try {
    value = await answer.json();
  } catch {
    throw new ApiError(answer.status, "The answer is no JSON", "Something between the browser and the deployment answers in its place.", false);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw shownError(new TypeError("no object"));
  return value as T;
}

/** Reads one address again and again: the same object as long as the answer is the same. */
export class Feed<T> {
  private tag = "";
  last: T | undefined;

  constructor(
    private readonly path: string,
    private readonly query: Query = {},
  ) {}

  async read(signal: AbortSignal): Promise<T> {
    const headers: Record<string, string> = this.last === undefined ? {} : { "if-none-match": this.tag };
    const answer = await call(this.path, { query: this.query, headers, signal });
    if (answer.status === 304 && this.last !== undefined) return this.last;
    const value = await parsed<T>(answer);
    this.tag = answer.headers.get("etag") ?? "";
    this.last = value;
    return value;
  }
}
