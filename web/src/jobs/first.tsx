import { useState } from "preact/hooks";
import type { JobDetail } from "../answers";
import { type ApiError, json } from "../api";
import { attempt } from "../job/attempt";
import { example } from "../new/example";
import { Refusal } from "../parts/parts";
import { useRights } from "../rights";
import { link } from "../route";

/** What a first visit shows on a deployment without jobs: one click runs the example. */
export function First() {
  const [error, setError] = useState<ApiError>();
  const [isSending, send] = useState(false);
  const { maySubmit } = useRights();
  const run = () =>
    attempt(setError, async () => {
      send(true);
      try {
        const job = await json<JobDetail>("jobs", { method: "POST", body: await example() });
        location.hash = link(["jobs", job.id, "log"]);
      } finally {
        send(false);
      }
    });
  return (
    <section class="first" aria-labelledby="first">
      <h2 id="first">There are no jobs yet</h2>
      <p>The example trains a classifier of handwritten digits on two nodes. It needs numpy and scikit-learn there, and takes less than a minute.</p>
      <div class="actions">
        {maySubmit && (
          <button type="button" class="main" disabled={isSending} onClick={() => void run()}>
            Run the example
          </button>
        )}
        <a class="button" href={link(["new"])}>
          Write a job of your own
        </a>
      </div>
      <Refusal error={error} />
    </section>
  );
}
