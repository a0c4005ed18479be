import { useState } from "preact/hooks";
import type { ApiError } from "./api";
import { credential, signIn } from "./session";

/** Asks for what the deployment wants: a function key, or a token where it checks tokens of Entra ID. */
export function SignIn({ error, onSignedIn }: { error: ApiError; onSignedIn: () => void }) {
  const [text, setText] = useState("");
  const kind = error.wantsToken ? "token" : "key";
  const label = kind === "token" ? "Access token" : "Function key";
  const submit = (event: Event) => {
    event.preventDefault();
    if (!text.trim()) return;
    signIn({ kind, text: text.trim() });
    onSignedIn();
  };
  return (
    <main class="sign-in">
      <h1>Sign in</h1>
      <form onSubmit={submit}>
        <label for="credential">{label}</label>
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
      {credential() !== null && <p role="alert">The deployment refused the last one.</p>}
      <p class="quiet">
        {kind === "token"
          ? "An access token of Entra ID for this deployment, as `az account get-access-token` prints it."
          : "A function key of the deployment, as the Azure portal lists it under App keys."}{" "}
        It stays in this tab, and is forgotten when you close it.
      </p>
    </main>
  );
}
