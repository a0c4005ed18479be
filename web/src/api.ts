/** Calls of the HTTP API of the deployment that serves the page. */
import type { Finding } from "./answers";
import { ApiError, shownError } from "./apierror";
import { deploymentTime, setClock } from "./clock";
import { holdBack, heldBack } from "./pace";
import { callerHeaders } from "./session";
import { checked, type Shape } from "./shape";

/** The page lies at `…/api/ui/`. */
const API = new URL("../", document.baseURI);

const UNKNOWN_CALLER = "slipway-unknown-caller";
/** The headers that name the caller. */
export const WHO = "me";

/** Called whenever a call is refused because the API does not, or no longer, know the caller. */
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
  /** The required members of a JSON answer. */
  shape?: Shape;
  signal?: AbortSignal;
  /** Called with each piece of the answer; from then on, its patience begins anew. */
  onPiece?: (bytes: number) => void;
}

/** Milliseconds after which a missing answer counts as none: a click waits for less time than a poll in the background. */
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
  const place = `${method} ${path}`;
  const earlier = heldBack(place);
  if (earlier !== undefined) throw earlier;
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
    throw noAnswer(method, path, late.signal.aborted);
  } finally {
    window.clearTimeout(timer);
  }
  if (answer.status === 401 && path !== WHO) window.dispatchEvent(new Event(UNKNOWN_CALLER));
  if (answer.ok || answer.status === 304) return answer;
  const refused = await refusal(answer);
  holdBack(place, refused);
  throw refused;
}

/** Milliseconds: the most that a deployment may ask a caller to wait. */
const LONGEST = 600_000;

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

/** Calls with a body that change nothing. */
const QUESTIONS = new Set(["validate", "explain"]);

/** A call that changes something may have arrived; all of them can be made twice. */
function noAnswer(method: "GET" | "POST", path: string, isLate: boolean): ApiError {
  const message = isLate ? `The deployment has not answered for ${PATIENCE[method] / 1000} s` : "The deployment does not answer";
  const mayBeDone = method === "POST" && !QUESTIONS.has(path);
  return new ApiError(0, message, mayBeDone ? "It may have done it anyway; trying again is safe." : "", false);
}

/** The same answer once it is complete: the connection may break in the middle. */
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

/** What the Functions host, or a gateway, refuses without a word: the reason, and what the caller can do. */
const SILENT: Record<number, readonly [string, string]> = {
  401: ["The deployment does not know the function key", "Copy it again, or ask its operator."],
  404: ["The deployment does not have this call", "It is starting, or is of another version: try again in a minute, then load the page again."],
  413: ["What was sent is too large for the deployment", "Move data out of the document."],
  414: ["The address is too long for the deployment", "Use fewer filters, or shorter names."],
  431: ["The headers of the request are too large for the deployment", "Sign in again, with the key or the token alone."],
  500: ["The deployment answered 500 without a reason", "Try again, or ask its operator; over 100 MiB, this is how it refuses what was sent."],
};

async function refusal(answer: Response): Promise<ApiError> {
  const wantsToken = answer.headers.get("www-authenticate")?.startsWith("Bearer") ?? false;
  let problem: { detail?: string; remedy?: string; errors?: Finding[] } = {};
  try {
    problem = await answer.json();
  } catch {
    // A proxy or the host answered, with no problem document.
  }
  const [silent, remedy = ""] = (answer.headers.has("slipway-api") ? undefined : SILENT[answer.status]) ?? [`The answer was ${answer.status}`];
  const detail = problem.detail ?? silent;
  const pause = Math.min(1000 * secondsOf(answer.headers.get("retry-after") ?? ""), LONGEST);
  const members = { ...problem, since: undefined, until: pause && Date.now() + pause, isOurs: answer.headers.has("slipway-api") };
  return new ApiError(answer.status, detail, problem.remedy ?? (problem.detail ? "" : remedy), wantsToken, problem.errors, members);
}

/** `Retry-After` has seconds or a date (RFC 9110, 10.2.3); 0 where it has neither. */
function secondsOf(text: string): number {
  const seconds = /^\s*\d+\s*$/.test(text) ? Number(text) : (Date.parse(text) - deploymentTime()) / 1000;
  return Math.max(0, seconds) || 0;
}

/** The JSON answer of one call. */
export async function json<T>(path: string, options: Options = {}): Promise<T> {
  return parsed(await call(path, options), options.shape);
}

/** The JSON of an answer: a proxy may have answered in the API's place, with a page of its own. */
export async function parsed<T>(answer: Response, shape: Shape = {}): Promise<T> {
  let value: unknown;
  try {
    value = await answer.json();
  } catch {
    throw notOurs("The answer is not JSON");
  }
  try {
    return checked<T>(value, shape);
  } catch (error) {
    throw shownError(error);
  }
}

/** The error for an answer of another program, such as a proxy that requires payment. */
export function notOurs(message: string): ApiError {
  return new ApiError(0, message, "Something between the browser and the deployment answers in its place.", false);
}

/** Reads one address again and again: the same object as long as the answer is the same. */
export class Feed<T> {
  private tag = "";
  last: T | undefined;

  constructor(
    private readonly path: string,
    private readonly query: Query = {},
    private readonly shape: Shape = {},
  ) {}

  async read(signal: AbortSignal): Promise<T> {
    const headers: Record<string, string> = this.last === undefined ? {} : { "if-none-match": this.tag };
    const answer = await call(this.path, { query: this.query, headers, signal });
    if (answer.status === 304 && this.last !== undefined) return this.last;
    const value = await parsed<T>(answer, this.shape);
    this.tag = answer.headers.get("etag") ?? "";
    this.last = value;
    return value;
  }
}
