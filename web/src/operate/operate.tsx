import type { DeadOne } from "../answers";
import { call } from "../api";
import { Outcome, useDeed } from "../parts/deed";
import { Refusal, Time } from "../parts/parts";
import { link } from "../route";
import { useRights } from "../rights";
import { Audit } from "./audit";
import { Health } from "./health";
import { useList } from "./lists";
import { Receivers } from "./receivers";
import { Trail } from "./trail";

/** The view for operators. It makes three calls, each a quarter as often. */
export function Operate() {
  const { isAdmin, isManager } = useRights();
  return (
    <main class="page operate">
      <h1>Operate</h1>
      <Health />
      {isAdmin && <DeadLetters />}
      {isAdmin && <Receivers />}
      {(isAdmin || isManager) && <Trail />}
      {isAdmin && <Audit />}
    </main>
  );
}

function DeadLetters() {
  const polled = useList<{ dead: DeadOne[] }>("dead", { dead: [{ id: "text", since: "text" }] });
  const deed = useDeed();
  const redrive = (one: DeadOne) =>
    deed.click(async () => {
      await call(`dead/${encodeURIComponent(one.id)}/redrive`, { method: "POST" });
      polled.again();
    });
  return (
    <section aria-labelledby="dead">
      <h2 id="dead">Dead letters</h2>
      <Refusal error={polled.error} readAt={polled.readAt} />
      <Outcome deed={deed} />
      {polled.value?.dead.length === 0 && <p class="quiet">There are none.</p>}
      <ul class="files" aria-label="Dead letters">
        {polled.value?.dead.map((one) => (
          <li key={one.id}>
            {one.kind} <code>{one.id}</code> <Time at={one.since} /> <span>{one.reason}</span>
            {one.job && <a href={link(["jobs", one.job, "deliveries"])}>its job</a>}
            <button type="button" aria-disabled={deed.isBusy} onClick={() => void redrive(one)}>
              Redrive<span class="hidden"> {one.id}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
