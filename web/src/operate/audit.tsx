import type { AuditReport } from "../answers";
import { useState } from "preact/hooks";
import { json, PATIENCE } from "../api";
import { Outcome, useDeed } from "../parts/deed";

const SHAPE = { counted: {}, differences: [{ kind: "text" }], unknown: ["text"] } as const;

/** Compares drops, ledger, clusters and deliveries, when the reader asks for it. */
export function Audit() {
  const [report, setReport] = useState<AuditReport>();
  const deed = useDeed(PATIENCE.GET);
  const compare = () => deed.click(async () => setReport(await json<AuditReport>("audit", { shape: SHAPE })));
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">Audit</h2>
      <button type="button" aria-disabled={deed.isBusy} onClick={() => void compare()}>
        Compare drops, ledger, clusters and deliveries
      </button>
      <Outcome deed={deed} />
      <div role="status">
        {report && (
          <p>
            {Object.entries(report.counted)
              .map(([name, count]) => `${count} ${name}`)
              .join(", ")}
            : {report.differences.length} {report.differences.length === 1 ? "difference" : "differences"}.
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
