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
const CHANNEL = `slipway ${new URL("../", document.baseURI).pathname}`;
const tabs = new BroadcastChannel(CHANNEL);
/** Names the time between two sign-outs, of all tabs and of the credential of this one: who was elsewhere at a sign-out comes back signed out. */
const [OF_ALL, OF_THIS] = [`${CHANNEL} session`, "slipway-session"];
/** The characters that a header can hold. */
const PLAIN = /^[\x21-\x7e]+$/;
/** Milliseconds for which a new tab waits for another one. */
const PATIENCE = 400;

export function credential(): Credential | null {
  const stored = sessionStorage.getItem(PLACE);
  if (stored === null) return null;
  if ((sessionStorage.getItem(OF_THIS) ?? "") !== (localStorage.getItem(OF_ALL) ?? "")) {
    sessionStorage.clear();
    return null;
  }
  const [kind, text] = stored.split(" ", 2);
  const one = { kind, text };
  return isCredential(one) ? one : null;
}

/** Whether this can be sent in a header. */
export function isCredential(value: unknown): value is Credential {
  if (typeof value !== "object" || value === null) return false;
  const { kind, text } = value as Partial<Credential>;
  return (kind === "key" || kind === "token") && typeof text === "string" && PLAIN.test(text);
}

function keep({ kind, text }: Credential): void {
  sessionStorage.setItem(OF_THIS, localStorage.getItem(OF_ALL) ?? "");
  sessionStorage.setItem(PLACE, `${kind} ${text}`);
}

/** For this tab, and for those that have none. */
export function signIn(one: Credential): void {
  keep(one);
  tell({ say: "this", credential: one });
}

/** Forget it in every tab, and everything else that they keep. */
export function signOut(): void {
  localStorage.setItem(OF_ALL, `${Date.now()} ${Math.random()}`);
  sessionStorage.clear();
  tell({ say: "out" });
}

function tell(message: Message): void {
  tabs.postMessage(message);
}

/** What another tab says, if it is one of the messages. */
function heard({ data }: MessageEvent<unknown>): Message | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { say, credential: one } = data as { say?: unknown; credential?: unknown };
  if (say === "who" || say === "out") return { say };
  return say === "this" && isCredential(one) ? { say, credential: one } : undefined;
}

/** Answer other tabs, and take what they say: `isNeeded` tells whether this one has to sign in, `act` is called after a change. */
export function joinTabs(isNeeded: () => boolean, act: () => void): () => void {
  const ends = new AbortController();
  const take = (event: MessageEvent<unknown>) => {
    const message = heard(event);
    if (message?.say === "out") return leave(true); // what another tab stored may come later than its message
    const own = credential();
    if (message?.say === "who" && own !== null && !isNeeded()) tell({ say: "this", credential: own });
    if (message?.say === "this" && isNeeded() && message.credential.text !== own?.text) {
      keep(message.credential);
      act();
    }
  };
  const leave = (isAsked: boolean) => {
    const hadOne = sessionStorage.getItem(PLACE) !== null;
    if (isAsked) sessionStorage.clear();
    if (credential() === null && hadOne) act();
  };
  const check = () => leave(false); // it was elsewhere when others signed out
  tabs.addEventListener("message", take, { signal: ends.signal });
  window.addEventListener("pageshow", check, { signal: ends.signal });
  document.addEventListener("visibilitychange", check, { signal: ends.signal });
  return () => ends.abort();
}

/** Ask the other tabs for a credential. Returns whether one of them has it, soon. */
export async function borrow(): Promise<boolean> {
  const ends = new AbortController();
  const answer = new Promise<boolean>((done) => {
    const take = (event: MessageEvent<unknown>) => {
      const message = heard(event);
      if (message?.say !== "this") return;
      keep(message.credential);
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
