/** Calls of the HTTP API of the deployment that serves the page. */
import type { Finding } from "./answers";
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
  /** Milliseconds until no answer counts as none. */
  patience?: number;
}

const PATIENCE = 60_000;

export function address(path: string, query: Query = {}): URL {
  const url = new URL(path, API);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") url.searchParams.set(name, String(value));
  }
  return url;
}

/** The whole answer of one call. Throws ApiError for any refusal, and where nothing, or only a part, comes back. */
export async function call(path: string, options: Options = {}): Promise<Response> {
  const { signal, patience = PATIENCE } = options;
  const late = AbortSignal.timeout(patience);
  let answer: Response;
  try {
    answer = await complete(await send(path, options, signal === undefined ? late : AbortSignal.any([signal, late])));
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "The deployment does not answer", "The page tries again by itself.", false);
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

/** The same answer when all of it has come: the connection may break in its middle. */
async function complete(answer: Response): Promise<Response> {
  const { status, headers } = answer;
  const body = await answer.blob();
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
  return new ApiError(answer.status, detail, problem.remedy ?? "", wantsToken, problem.errors, { ...problem });
}

/** The JSON answer of one call. */
export async function json<T>(path: string, options: Options = {}): Promise<T> {
  return parsed(await call(path, options));
}

/** A proxy may answer in the API's place, with a page of its own. */
async function parsed<T>(answer: Response): Promise<T> {
  try {
    return await answer.json();
  } catch {
    throw new ApiError(answer.status, "The answer is no JSON", "Something between the browser and the deployment answers in its place.", false);
  }
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
