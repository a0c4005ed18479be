import { useEffect, useState } from "preact/hooks";
import type { Finding, JobDetail } from "../answers";
import { ApiError, json } from "../api";
import { Refusal } from "../parts/parts";
import { Findings } from "../parts/findings";

interface Receipt {
  accepted?: Record<string, unknown>;
}

/** A rejected document as it came, with marks where something is wrong. */
function Received({ text, findings }: { text: string; findings: readonly Finding[] }) {
  const lines = text.split("\n");
  const wrong = new Set(findings.filter((one) => one.file !== "slipway.json").map((one) => one.line));
  return (
    <pre class="preview" tabIndex={0} aria-label="The document as it was received">
      {lines.map((line, index) => (
        <span key={index}>
          <span class="quiet" aria-hidden="true">{`${String(index + 1).padStart(String(lines.length).length)}  `}</span>
          {wrong.has(index + 1) ? <mark>{line}</mark> : line}
          {"\n"}
        </span>
      ))}
    </pre>
  );
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
      {job.received !== undefined && <Received text={job.received} findings={problems} />}
      {receipt?.accepted && <pre class="preview" tabIndex={0}>{JSON.stringify(receipt.accepted, null, 2)}</pre>}
      {receipt && (
        <details>
          <summary>Receipt</summary>
          <pre class="preview" tabIndex={0}>{JSON.stringify({ ...receipt, accepted: undefined }, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}
