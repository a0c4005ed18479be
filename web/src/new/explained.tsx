import type { Explanation } from "../answers";
import { Notice } from "../parts/parts";

export const EXPLANATION = { verdict: "text", summary: "text", notes: ["text"] } as const;

/** What would happen to a document, as the API explains it. */
export function Explained({ explanation }: { explanation: Explanation }) {
  const { verdict, summary, notes, warnings = [], cluster, environment = [], request } = explanation;
  return (
    <section aria-labelledby="explained">
      <h2 id="explained">What would happen</h2>
      <Notice kind={verdict === "runs" ? "info" : "error"}>
        <strong>{verdict}</strong> {summary} {cluster?.why && <span class="quiet">{cluster.why}</span>}
        <ul>
          {[...notes, ...warnings].map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      </Notice>
      {environment.length > 0 && (
        <details>
          <summary>The environment of the script</summary>
          <pre class="preview" tabIndex={0}>{environment.map(({ name, value }) => `${name}=${value}`).join("\n")}</pre>
        </details>
      )}
      {request !== undefined && request !== null && (
        <details>
          <summary>The request to the cluster</summary>
          <pre class="preview" tabIndex={0}>{JSON.stringify(request, null, 2)}</pre>
        </details>
      )}
    </section>
  );
}
