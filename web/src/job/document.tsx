import type { Finding, JobDetail, Receipt } from "../answers";
import { json } from "../api";
import { Findings } from "../parts/findings";
import { Reading, useReading } from "../parts/reading";
import { Environment } from "./environment";
import { Marked, type Place } from "./marked";
import { lineAt, written } from "./written";

/** A rejected document as received, with its problems at their lines. */
function Received({ text, findings }: { text: string; findings: readonly Finding[] }) {
  const own = findings.filter((one) => one.file !== "slipway.json");
  const lines = text.split("\n");
  return <Marked label="The document as it was received" text={text} findings={own} placeOf={(one) => placeIn(lines, one)} />;
}

/** Columns are those of the text that came: what is hidden here has another length, and so it is in a finding's `source`. */
function placeIn(lines: readonly string[], { line, endLine, source = "", caret, width }: Finding): Place | undefined {
  if (line === undefined || endLine !== line || caret === undefined || width === undefined) return onLine(line);
  const shown = (lines[line - 1] ?? "").replaceAll("\t", " ");
  const piece = source.replace(/^…|…$/g, "");
  const start = shown.indexOf(piece);
  if (piece === "" || start < 0 || start !== shown.lastIndexOf(piece)) return onLine(line);
  const before = Array.from(shown.slice(0, start)).length - (source.startsWith("…") ? 1 : 0);
  return { line, from: before + caret, to: before + caret + width };
}

function onLine(line: number | undefined): Place | undefined {
  return line === undefined ? undefined : { line };
}

/** The completed document. What was found has places in the text that came, so its pointer says where it is in this one. */
function Accepted({ document, findings }: { document: Record<string, unknown>; findings: readonly Finding[] }) {
  const own = findings.filter((one) => one.file !== "slipway.json");
  const { text, lines } = written(document);
  return <Marked label="The document as it was accepted" text={text} findings={own} placeOf={(one) => onLine(lineAt(lines, one.pointer))} />;
}

/** The job.json as it was accepted, with what was found in it, and the receipt. */
export function Document({ job }: { job: JobDetail }) {
  const path = `jobs/${encodeURIComponent(job.id)}/receipt`;
  const reading = useReading(path, (signal) => json<Receipt>(path, { signal }), job.state);
  const receipt = reading.value;
  const problems: Finding[] = job.problems ?? [];
  return (
    <>
      {job.state !== "rejected" && <Findings findings={problems} />}
      <Reading of={reading} />
      {job.received !== undefined && <Received text={job.received} findings={problems} />}
      {receipt?.accepted && <Accepted document={receipt.accepted} findings={problems} />}
      {receipt?.accepted && <Environment job={job} document={receipt.accepted} />}
      {receipt && (
        <details>
          <summary>Receipt</summary>
          <pre class="preview" tabIndex={0}>{JSON.stringify({ ...receipt, accepted: undefined }, null, 2)}</pre>
        </details>
      )}
    </>
  );
}
