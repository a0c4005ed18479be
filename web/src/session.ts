/** The caller's credential. It lives as long as a tab of this deployment is open, and is sent only in a header. */
const PLACE = "slipway-credential";

/** A function key, or an access token of Entra ID: a deployment takes one of the two. */
export interface Credential {
  kind: "key" | "token";
  text: string;
}

/** What tabs of one browser say to each other: a new one asks, one that is signed in answers, and all sign out together. */
type Message = { say: "who" } | { say: "this"; credential: Credential } | { say: "out" };

/** Of this origin and this deployment alone: others may lie behind the same proxy. */
const tabs = new BroadcastChannel(`slipway ${new URL("../", document.baseURI).pathname}`);
/** Milliseconds for which a new tab waits for another one. */
const PATIENCE = 400;

export function credential(): Credential | null {
  const [kind, ...rest] = (sessionStorage.getItem(PLACE) ?? "").split(" ");
  const text = rest.join(" ");
  return (kind === "key" || kind === "token") && text ? { kind, text } : null;
}

function keep({ kind, text }: Credential): void {
  sessionStorage.setItem(PLACE, `${kind} ${text}`);
}

/** For this tab, and for those that have none. */
export function signIn(one: Credential): void {
  keep(one);
  tell({ say: "this", credential: one });
}

/** Forget it in every tab, and everything else that they keep. */
export function signOut(): void {
  sessionStorage.clear();
  tell({ say: "out" });
}

function tell(message: Message): void {
  tabs.postMessage(message);
}

/** Answer other tabs, and take what they say: `isNeeded` tells whether this one has to sign in, `act` is called after a change. */
export function joinTabs(isNeeded: () => boolean, act: () => void): () => void {
  const take = ({ data }: MessageEvent<Message>) => {
    const own = credential();
    if (data.say === "who" && own !== null && !isNeeded()) tell({ say: "this", credential: own });
    if (data.say === "out" && own !== null) {
      sessionStorage.clear();
      act();
    }
    if (data.say === "this" && isNeeded() && data.credential.text !== own?.text) {
      keep(data.credential);
      act();
    }
  };
  tabs.addEventListener("message", take);
  return () => tabs.removeEventListener("message", take);
}

/** Ask the other tabs for a credential. Returns whether one of them has it, soon. */
export async function borrow(): Promise<boolean> {
  const ends = new AbortController();
  const answer = new Promise<boolean>((done) => {
    const take = ({ data }: MessageEvent<Message>) => {
      if (data.say !== "this") return;
      keep(data.credential);
      done(true);
    };
    tabs.addEventListener("message", take, { signal: ends.signal });
    window.setTimeout(() => done(false), PATIENCE);
  });
  tell({ say: "who" });
  const isThere = await answer;
  ends.abort();
  return isThere;
}

/** The headers that name the caller; none before signing in, which is enough if no key is required. */
export function callerHeaders(): Record<string, string> {
  const one = credential();
  if (one === null) return {};
  return one.kind === "key" ? { "x-functions-key": one.text } : { authorization: `Bearer ${one.text}` };
}
