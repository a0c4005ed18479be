/** Signing in with Entra ID: authorization code with PKCE. The code comes back behind `#`, which goes to no server. */
import type { SignInWay } from "./answers";
import { PATIENCE } from "./api";
import { signIn } from "./session";

const PLACE = "slipway-sign-in";

/** The values that have to match when the browser comes back. */
interface Begun {
  way: SignInWay;
  state: string;
  nonce: string;
  verifier: string;
  /** where the reader was */
  hash: string;
}

export function signInWay(problem: Record<string, unknown>): SignInWay | undefined {
  const way = problem["signIn"] as SignInWay | undefined;
  // An address from an answer is followed only where it is one of the web.
  return way && [way.authorize, way.token].every((one) => /^https?:\/\//.test(one)) ? way : undefined;
}

/** Leave for the page where people sign in. */
export async function begin(way: SignInWay): Promise<void> {
  const begun: Begun = { way, state: random(), nonce: random(), verifier: random(), hash: location.hash };
  sessionStorage.setItem(PLACE, JSON.stringify(begun));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(begun.verifier));
  const url = new URL(way.authorize);
  url.search = new URLSearchParams({
    client_id: way.client,
    response_type: "code",
    response_mode: "fragment",
    redirect_uri: pageAddress(),
    scope: way.scope,
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: "S256",
  }).toString();
  location.assign(url);
}

/** If the browser has just come back: exchange the code for a token. Returns why that failed, or "". */
export async function finish(): Promise<string> {
  const answer = new URLSearchParams(location.hash.slice(1));
  if (location.hash.startsWith("#/") || !answer.has("state")) return "";
  const text = sessionStorage.getItem(PLACE);
  sessionStorage.removeItem(PLACE);
  const begun: Begun | null = text === null ? null : JSON.parse(text);
  history.replaceState(null, "", begun?.hash || "#/");
  if (begun === null || answer.get("state") !== begun.state) return "This tab did not ask for that answer. Sign in again.";
  const code = answer.get("code");
  if (code === null) return answer.get("error_description") ?? answer.get("error") ?? "There is no code in the answer.";
  try {
    return await redeem(begun, code);
  } catch {
    return "The authority does not answer. Sign in again.";
  }
}

async function redeem({ way, nonce, verifier }: Begun, code: string): Promise<string> {
  const answer = await fetch(way.token, {
    method: "POST",
    credentials: "omit",
    redirect: "error",
    signal: AbortSignal.timeout(PATIENCE.POST),
    body: new URLSearchParams({
      client_id: way.client,
      grant_type: "authorization_code",
      code,
      redirect_uri: pageAddress(),
      scope: way.scope,
      code_verifier: verifier,
    }),
  });
  const grant: Record<string, unknown> = await answer.json();
  if (!answer.ok) return String(grant["error_description"] ?? grant["error"] ?? `The answer was ${answer.status}`);
  // It came over TLS from the authority itself, so its signature need not be checked (OpenID Connect Core, 3.1.3.7).
  const identity = claims(String(grant["id_token"]));
  const isOurs = identity["nonce"] === nonce && identity["aud"] === way.client && identity["iss"] === way.issuer;
  if (!isOurs) return "The answer belongs to another sign-in. Sign in again.";
  if (typeof grant["access_token"] !== "string") return "There is no token in the answer. Sign in again.";
  signIn({ kind: "token", text: grant["access_token"] });
  return "";
}

function pageAddress(): string {
  return new URL("./", document.baseURI.replace(/[?#].*/, "")).href;
}

function random(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

function claims(token: string): Record<string, unknown> {
  const middle = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
  const bytes = Uint8Array.from(atob(middle), (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}
