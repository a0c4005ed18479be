import { useMemo } from "preact/hooks";
import type { JobDetail } from "../answers";
import { JOB } from "../shape";
import { json } from "../api";
import { onceKey } from "../job/once";
import { example } from "../new/example";
import { Outcome, useDeed } from "../parts/deed";
import { useRights } from "../rights";
import { link } from "../route";

/** The view of a deployment without jobs: one click runs the example. */
export function First() {
  const deed = useDeed();
  const key = useMemo(onceKey, []);
  const { maySubmit } = useRights();
  const run = () =>
    deed.click(async () => {
      const job = await json<JobDetail>("jobs", { method: "POST", body: await example(), headers: { "idempotency-key": key }, shape: JOB });
      location.hash = link(["jobs", job.id, "log"]);
    });
  return (
    <section class="first" aria-labelledby="first">
      <h2 id="first">There are no jobs yet</h2>
      <p>The example trains a classifier of handwritten digits on two nodes. It needs numpy and scikit-learn there, and takes less than a minute.</p>
      <div class="actions">
        {maySubmit && (
          <button type="button" class="main" aria-disabled={deed.isBusy} onClick={() => void run()}>
            Run the example
          </button>
        )}
        <a class="button" href={link(["new"])}>
          Write a job of your own
        </a>
      </div>
      <Outcome deed={deed} />
    </section>
  );
}
