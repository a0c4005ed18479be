import type { JobDetail } from "../answers";

interface Variable {
  name?: unknown;
  value?: unknown;
}

const MASK = "***";

/** The variables that a job ran with: those of its document, secrets masked, and those by which it is recognised. */
export function Environment({ job, document }: { job: JobDetail; document: Record<string, unknown> }) {
  const rows = variablesOf(job, document);
  return (
    <section aria-labelledby="environment">
      <h3 id="environment">Environment</h3>
      <div class="preview" tabIndex={0} role="region" aria-label="Environment variables">
        <table>
          <thead>
            <tr>
              <th scope="col">Variable</th>
              <th scope="col">Value</th>
              <th scope="col">From</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, value, source]) => (
              <tr key={name}>
                <td>{name}</td>
                <td>{value}</td>
                <td>{source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="quiet">The cluster adds its own, such as AZ_BATCHAI_JOB_TEMP: "Run with changes" and "Explain" list them.</p>
    </section>
  );
}

function variablesOf(job: JobDetail, document: Record<string, unknown>): [string, string, string][] {
  const properties = (document["properties"] ?? {}) as Record<string, unknown>;
  const list = (name: string): Variable[] => (Array.isArray(properties[name]) ? properties[name] : []);
  // They replace those of the document that have the same name.
  const rows = new Map<string, [string, string]>([["PYTHONUNBUFFERED", ["1", "Slipway"]]]);
  for (const { name, value } of list("environmentVariables")) rows.set(String(name), [String(value), "job.json"]);
  for (const { name } of list("secrets")) rows.set(String(name), [MASK, "a secret of job.json"]);
  rows.set("SLIPWAY_JOB_ID", [job.id, "Slipway"]);
  rows.set("SLIPWAY_ATTEMPT", [String(job.attempt), "Slipway"]);
  rows.set("SLIPWAY_TOKEN", [MASK, "Slipway"]);
  return [...rows].map(([name, [value, source]]) => [name, value, source]);
}
