import { useMemo, useState } from "preact/hooks";
import { ApiError, call, Feed, json } from "../api";
import { attempt } from "../job/attempt";
import { Refusal, Time } from "../parts/parts";
import { LATEST, type Polled, usePoll } from "../poll";
import { useRights } from "../rights";
import { Audit } from "./audit";
import { Health } from "./health";

interface Dead {
  id: string;
  kind: string;
  queue?: string;
  job?: string;
  since: string;
  reason: string;
}

interface Disabled {
  url: string;
  since: string;
  why: string;
}

/** What an operator looks after. Three calls at a time, a third as often. */
export function Operate() {
  const { isAdmin } = useRights();
  return (
    <main>
      <h1>Operate</h1>
      <Health />
      {isAdmin && <DeadLetters />}
      {isAdmin && <DisabledReceivers />}
      {isAdmin && <Audit />}
    </main>
  );
}

function useList<T>(path: string): Polled<T> {
  const feed = useMemo(() => new Feed<T>(path), [path]);
  return usePoll(path, (signal) => feed.read(signal), { latest: 3 * LATEST });
}

function DeadLetters() {
  const polled = useList<{ dead: Dead[] }>("dead");
  const [error, setError] = useState<ApiError>();
  const redrive = (one: Dead) =>
    attempt(setError, async () => {
      await call(`dead/${encodeURIComponent(one.id)}/redrive`, { method: "POST" });
      polled.again();
    });
  return (
    <section aria-labelledby="dead">
      <h2 id="dead">Dead letters</h2>
      <Refusal error={error ?? polled.error} />
      {polled.value?.dead.length === 0 && <p class="quiet">There are none.</p>}
      <ul class="files">
        {polled.value?.dead.map((one) => (
          <li key={one.id}>
            {one.kind} <code>{one.id}</code> <Time at={one.since} /> <span>{one.reason}</span>
            <button type="button" onClick={() => void redrive(one)}>
              Redrive<span class="hidden"> {one.id}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function DisabledReceivers() {
  const polled = useList<{ receivers: Disabled[] }>("receivers/disabled");
  return (
    <section aria-labelledby="receivers">
      <h2 id="receivers">Disabled receivers</h2>
      <Refusal error={polled.error} />
      {polled.value?.receivers.length === 0 && <p class="quiet">There are none.</p>}
      <ul class="files">
        {polled.value?.receivers.map((one) => (
          <li key={one.url}>
            <code>{one.url}</code> <Time at={one.since} /> <span>{one.why}</span>
          </li>
        ))}
      </ul>
      <ReceiverTest onSent={polled.again} />
    </section>
  );
}

/** Sends one signed test event; an answer of 2xx enables an address that was disabled. */
function ReceiverTest({ onSent }: { onSent: () => void }) {
  const [url, setUrl] = useState("");
  const [secret, setSecret] = useState("");
  const [answer, setAnswer] = useState("");
  const [error, setError] = useState<ApiError>();
  const send = (event: Event) => {
    event.preventDefault();
    void attempt(setError, async () => {
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
      <button type="submit">Send a test</button>
      <span role="status">{answer}</span>
      <Refusal error={error} />
    </form>
  );
}
