import { useEffect, useState } from "preact/hooks";
import type { Finding, JobDetail } from "../answers";
import { ApiError, json } from "../api";
import { Refusal } from "../parts/parts";
import { Findings } from "../parts/findings";

interface Receipt {
  accepted?: Record<string, unknown>;
}

/** The job.json as it was accepted, with what was found in it, and the receipt. */
export function Document({ job }: { job: JobDetail }) {
  const [receipt, setReceipt] = useState<Receipt>();
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    json<Receipt>(`jobs/${encodeURIComponent(job.id)}/receipt`).then(
      (value) => setReceipt(value),
      (problem) => problem instanceof ApiError && setError(problem),
    );
  }, [job.id, job.state]);
  const problems: Finding[] = job.problems ?? [];
  return (
    <section aria-labelledby="document">
      <h2 id="document">job.json</h2>
      <Findings findings={problems} />
      <Refusal error={error} />
      {receipt?.accepted && <pre class="preview">{JSON.stringify(receipt.accepted, null, 2)}</pre>}
      {receipt && (
        <details>
          <summary>Receipt</summary>
          <pre class="preview">{JSON.stringify({ ...receipt, accepted: undefined }, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}
