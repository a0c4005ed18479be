import type { Finding } from "../answers";

/** What is wrong with a document, each with its line and its remedy. */
export function Findings({ findings, onFix }: { findings: readonly Finding[]; onFix?: (finding: Finding) => void }) {
  if (findings.length === 0) return null;
  return (
    <ul class="findings">
      {findings.map((one, index) => (
        <li key={index} class={`finding-${one.severity}`}>
          <strong>
            {one.severity} {one.code}
          </strong>{" "}
          {one.message} <span class="quiet">{place(one)}</span>
          {one.source !== undefined && <pre tabIndex={0}>{one.source}</pre>}
          <div>{one.remedy}</div>
          {onFix && one.edits && (
            <button type="button" onClick={() => onFix(one)}>
              Fix it
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function place({ file, line, column, pointer }: Finding): string {
  return line === undefined ? pointer : `${file ?? "line"}${file ? ":" : " "}${line}${column === undefined ? "" : `:${column}`}`;
}
