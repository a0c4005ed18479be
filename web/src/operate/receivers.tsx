import type { ReceiverState } from "../answers";
import { useState } from "preact/hooks";
import { call, json } from "../api";
import { Outcome, useDeed } from "../parts/deed";
import { Refusal, Time } from "../parts/parts";
import { useTyped } from "../parts/typed";
import { useList } from "./lists";

const WORDS: Record<ReceiverState["state"], string> = {
  disabled: "disabled, because it answered 410",
  failing: "does not accept its events",
  dead: "did not accept some events",
  waiting: "has events on their way",
};

/** Receivers that have not accepted all their events: since when, the next try, and the events that were given up. */
export function Receivers() {
  const polled = useList<{ receivers: ReceiverState[] }>("receivers", { receivers: [{ url: "text", deadEvents: "list" }] });
  const deed = useDeed();
  const redeliver = (one: ReceiverState) =>
    deed.click(async () => {
      for (const id of one.deadEvents) await call(`events/${encodeURIComponent(id)}/redeliver`, { method: "POST" });
      polled.again();
    });
  return (
    <section aria-labelledby="receivers">
      <h2 id="receivers">Receivers</h2>
      <Refusal error={polled.error} readAt={polled.readAt} />
      <Outcome deed={deed} />
      {polled.value?.receivers.length === 0 && <p class="quiet">Every event was accepted.</p>}
      <ul class="files" aria-label="Receivers">
        {polled.value?.receivers.map((one) => (
          <li key={one.url}>
            <code>{one.url}</code> <strong>{WORDS[one.state] ?? one.state}</strong>
            {one.since && (
              <span>
                since <Time at={one.since} />
              </span>
            )}
            {one.next && (
              <span>
                next try <Time at={one.next} />
              </span>
            )}
            {one.breaker && <Breaker {...one.breaker} />}
            <span class="quiet">
              {one.last && `last try: ${one.last}; `}
              {countOf(one.pending, "is", "are")} on the way, {countOf(one.dead, "was", "were")} given up
            </span>
            {one.dead > 0 && (
              <button type="button" aria-disabled={deed.isBusy} onClick={() => void redeliver(one)}>
                Send {one.deadEvents.length} again<span class="hidden"> to {one.url}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      <ReceiverTest onSent={polled.again} />
    </section>
  );
}

function countOf(count: number | undefined, single: string, several: string): string {
  if (!count) return `no event ${single}`;
  if (count > 1) return `${count} events ${several}`;
  return `1 event ${single}`;
}

/** Why the address gets no events for a while. */
function Breaker({ state, since, until }: NonNullable<ReceiverState["breaker"]>) {
  return (
    <span>
      breaker {state} since <Time at={since} />
      {state === "open" ? (
        <>
          {" "}
          until <Time at={until} />
        </>
      ) : (
        ": the next event shows whether it answers"
      )}
    </span>
  );
}

/** Sends one signed test event; an answer of 2xx enables an address that was disabled. */
function ReceiverTest({ onSent }: { onSent: () => void }) {
  const [url, setUrl] = useTyped("receiver");
  const [secret, setSecret] = useTyped("receiver-secret");
  const [answer, setAnswer] = useState("");
  const deed = useDeed();
  const send = (event: Event) => {
    event.preventDefault();
    void deed.click(async () => {
      setAnswer("");
      const body = JSON.stringify({ url, ...(secret ? { secret } : {}) });
      const { outcome, status, said, ms } = await json<{ outcome: string; status: number | null; said: string; ms: number }>(
        "receivers/test",
        { method: "POST", body },
      );
      setAnswer(`${outcome}: ${status ?? "no answer"} in ${ms} ms ${said}`);
      onSent();
    });
  };
  return (
    <form class="filters" onSubmit={send}>
      <label>
        Address
        <input type="url" required value={url} onInput={(event) => setUrl(event.currentTarget.value)} />
      </label>
      <label>
        Name of its secret
        <input value={secret} onInput={(event) => setSecret(event.currentTarget.value)} />
      </label>
      <button type="submit" aria-disabled={deed.isBusy}>Send a test</button>
      <span role="status">{answer}</span>
      <Outcome deed={deed} />
    </form>
  );
}
