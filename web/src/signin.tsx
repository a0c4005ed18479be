import { useState } from "preact/hooks";
import type { ApiError } from "./apierror";
import { begin, signInWay } from "./entra";
import { Notice, Refusal } from "./parts/parts";
import { credential, isCredential, signIn } from "./session";

interface Props {
  error: ApiError;
  /** Why signing in with Entra failed, or "". */
  failure: string;
  /** Why the last try was not answered. */
  trouble: ApiError | undefined;
  onSignedIn: () => void;
}

/** Asks for the credential that the deployment requires: a function key, or a token if it checks tokens of Entra ID. */
export function SignIn({ error, failure, trouble, onSignedIn }: Props) {
  const way = signInWay(error.problem);
  const [isStuck, getStuck] = useState(false);
  return (
    <main class="sign-in">
      <h1>Sign in</h1>
      {failure && <Notice kind="error">{failure}</Notice>}
      {isStuck && <Notice kind="error">The deployment does not answer, or has a newer page: load it again.</Notice>}
      <Refusal error={trouble} />
      {credential() !== null && !trouble && (
        <Notice kind="error">
          The deployment refused the last one. {error.message}
          <p>What you wrote in this tab is still there when you have signed in again.</p>
        </Notice>
      )}
      {way ? (
        <button type="button" onClick={() => void begin(way).catch(() => getStuck(true))}>
          Sign in with Entra ID
        </button>
      ) : (
        <CredentialForm kind={error.wantsToken ? "token" : "key"} onSignedIn={onSignedIn} />
      )}
      <p class="quiet">What you sign in with stays in the open tabs of this page, and is forgotten when you close the last one.</p>
    </main>
  );
}

function CredentialForm({ kind, onSignedIn }: { kind: "token" | "key"; onSignedIn: () => void }) {
  const [text, setText] = useState("");
  const [isOdd, setOdd] = useState(false);
  const submit = (event: Event) => {
    event.preventDefault();
    const entered = text.trim();
    if (!entered) return;
    const one = { kind, text: entered };
    setOdd(!isCredential(one));
    if (!isCredential(one)) return;
    signIn(one);
    onSignedIn();
  };
  return (
    <>
      <form onSubmit={submit}>
        <label for="credential">{kind === "token" ? "Access token" : "Function key"}</label>
        <input
          id="credential"
          type="password"
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit">Sign in</button>
      </form>
      {isOdd && <Notice kind="error">It has characters that no {kind === "token" ? "token" : "key"} has, such as spaces, line ends or accents: copy it again.</Notice>}
      <p class="quiet">
        {kind === "token"
          ? "An access token of Entra ID for this deployment, as `az account get-access-token` prints it."
          : "The key that the operator gave you; or a function key, as the Azure portal lists it under App keys."}
      </p>
    </>
  );
}
