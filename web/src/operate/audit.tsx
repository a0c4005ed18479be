import { useState } from "preact/hooks";
import { type ApiError, json } from "../api";
import { attempt } from "../job/attempt";
import { Refusal } from "../parts/parts";

interface Report {
  counted: Record<string, number>;
  differences: { kind: string; what: string; message: string }[];
  unknown: string[];
}

/** Compares drops, ledger, clusters and deliveries, when the reader asks for it. */
export function Audit() {
  const [report, setReport] = useState<Report>();
  const [isRunning, run] = useState(false);
  const [error, setError] = useState<ApiError>();
  const compare = async () => {
    run(true);
    await attempt(setError, async () => setReport(await json<Report>("audit")));
    run(false);
  };
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">Audit</h2>
      <button type="button" disabled={isRunning} onClick={() => void compare()}>
        Compare drops, ledger, clusters and deliveries
      </button>
      <Refusal error={error} />
      <div role="status">
        {report && (
          <p>
            {Object.entries(report.counted)
              .map(([name, count]) => `${count} ${name}`)
              .join(", ")}
            : {report.differences.length} differences.
          </p>
        )}
        <ul>
          {report?.differences.map((one, index) => (
            <li key={index}>
              {one.kind} <code>{one.what}</code> {one.message}
            </li>
          ))}
          {report?.unknown.map((text) => (
            <li key={text}>Not known: {text}</li>
          ))}
        </ul>
      </div>
    </section>
  );
}
