import { useState } from "preact/hooks";
import { type ApiError, call } from "../api";
import { attempt } from "../job/attempt";
import { Refusal, Time } from "../parts/parts";
import { link } from "../route";
import { useRights } from "../rights";
import { Audit } from "./audit";
import { Health } from "./health";
import { useList } from "./lists";
import { Receivers } from "./receivers";

interface Dead {
  id: string;
  kind: string;
  queue?: string;
  job?: string;
  since: string;
  reason: string;
}

/** What an operator looks after. Three calls at a time, a quarter as often. */
export function Operate() {
  const { isAdmin } = useRights();
  return (
    <main>
      <h1>Operate</h1>
      <Health />
      {isAdmin && <DeadLetters />}
      {isAdmin && <Receivers />}
      {isAdmin && <Audit />}
    </main>
  );
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
      <ul class="files" aria-label="Dead letters">
        {polled.value?.dead.map((one) => (
          <li key={one.id}>
            {one.kind} <code>{one.id}</code> <Time at={one.since} /> <span>{one.reason}</span>
            {one.job && <a href={link(["jobs", one.job, "deliveries"])}>its job</a>}
            <button type="button" onClick={() => void redrive(one)}>
              Redrive<span class="hidden"> {one.id}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
