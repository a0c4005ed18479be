/** The caller's credential. It lives as long as the tab, and is sent only in a header. */
const PLACE = "slipway-credential";

/** A function key, or an access token of Entra ID: a deployment takes one of the two. */
export interface Credential {
  kind: "key" | "token";
  text: string;
}

export function credential(): Credential | null {
  const [kind, ...rest] = (sessionStorage.getItem(PLACE) ?? "").split(" ");
  const text = rest.join(" ");
  return (kind === "key" || kind === "token") && text ? { kind, text } : null;
}

export function signIn({ kind, text }: Credential): void {
  sessionStorage.setItem(PLACE, `${kind} ${text}`);
}

/** Forget it, and everything else that this tab keeps. */
export function signOut(): void {
  sessionStorage.clear();
}

/** The headers that name the caller; none before signing in, which is enough if no key is required. */
export function callerHeaders(): Record<string, string> {
  const one = credential();
  if (one === null) return {};
  return one.kind === "key" ? { "x-functions-key": one.text } : { authorization: `Bearer ${one.text}` };
}
