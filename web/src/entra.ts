/**
 * Signing in with Entra ID: authorization code with PKCE, by oauth4webapi, which is loaded only for that.
 *
 * The code comes back behind `#`, which goes to no server.
 */
import type * as OAuth from "oauth4webapi";
import type { SignInWay } from "./answers";
import { PATIENCE } from "./api";
import { signIn } from "./session";

const PLACE = "slipway-sign-in";

/** Seconds. */
const DAY = 86_400;

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
  const oauth = await import("oauth4webapi");
  const begun: Begun = { way, state: oauth.generateRandomState(), nonce: oauth.generateRandomNonce(), verifier: oauth.generateRandomCodeVerifier(), hash: location.hash };
  sessionStorage.setItem(PLACE, JSON.stringify(begun));
  const url = new URL(way.authorize);
  url.search = new URLSearchParams({
    client_id: way.client,
    response_type: "code",
    response_mode: "fragment",
    redirect_uri: pageAddress(),
    scope: way.scope,
    state: begun.state,
    nonce: begun.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(begun.verifier),
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
  if (!answer.has("code")) return answer.get("error_description") ?? answer.get("error") ?? "There is no code in the answer.";
  try {
    const oauth = await import("oauth4webapi");
    return await redeem(oauth, begun, answer);
  } catch {
    return "The authority does not answer. Sign in again.";
  }
}

/** Exchange the code: the library checks issuer, audience, nonce and times of the identity that comes with the token. */
async function redeem(oauth: typeof OAuth, { way, state, nonce, verifier }: Begun, answer: URLSearchParams): Promise<string> {
  const server = { issuer: way.issuer, authorization_endpoint: way.authorize, token_endpoint: way.token };
  // It has just come from the authority itself, and the reader's clock may be hours off.
  const client = { client_id: way.client, [oauth.clockTolerance]: DAY };
  const options = {
    signal: () => AbortSignal.timeout(PATIENCE.POST),
    // The deployment names the address, also in a test of it, where it may be one of this machine.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, init: OAuth.CustomFetchOptions<"POST", URLSearchParams>) => fetch(url, { ...init, credentials: "omit", redirect: "error" }),
  };
  let response: Response;
  let grant: OAuth.TokenEndpointResponse;
  try {
    const parameters = oauth.validateAuthResponse(server, client, answer, state);
    response = await oauth.authorizationCodeGrantRequest(server, client, oauth.None(), parameters, pageAddress(), verifier, options);
    grant = await oauth.processAuthorizationCodeResponse(server, client, response, { expectedNonce: nonce, requireIdToken: true });
  } catch (error) {
    if (error instanceof oauth.ResponseBodyError) return error.error_description ?? error.error;
    if (error instanceof oauth.OperationProcessingError) return "The answer belongs to another sign-in. Sign in again.";
    throw error;
  }
  signIn({ kind: "token", text: grant.access_token });
  return "";
}

function pageAddress(): string {
  return new URL("./", document.baseURI.replace(/[?#].*/, "")).href;
}
