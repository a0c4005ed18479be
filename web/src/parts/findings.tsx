import type { Finding } from "../answers";

interface Props {
  findings: readonly Finding[];
  /** They are of an earlier text, in which a fix would be at another place. */
  isOld?: boolean;
  onFix?: (finding: Finding) => void;
}

/** The problems of a document, each with its line and its remedy. */
export function Findings({ findings, isOld, onFix }: Props) {
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
            <button type="button" aria-disabled={isOld} onClick={() => isOld || onFix(one)}>
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
