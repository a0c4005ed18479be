import type { Capability, Facts as ClusterFacts } from "../answers";
import { size } from "../format";

const MIB = 2 ** 20;

/** The known facts of a cluster's nodes and jobs, and the abilities of its engine. */
export function Facts({ facts, capabilities = {} }: { facts: ClusterFacts | undefined; capabilities?: Record<string, Capability> | undefined }) {
  const { mounted = null, maxNodes = null, gpus = null, nodeMemory = null, maxWallClock = null } = facts ?? {};
  const rows: [string, string | number | null][] = [
    ["GPUs of a node", gpus],
    ["Memory of a node", nodeMemory && size(nodeMemory * MIB)],
    ["Most nodes of a job", maxNodes],
    ["Longest job", maxWallClock],
    ["Mounted", mounted && (mounted.join(", ") || "nothing")],
  ];
  const facets = Object.entries(capabilities);
  if (facets.length === 0 && rows.every(([, value]) => value === null)) return null;
  return (
    <details>
      <summary>What jobs can count on there</summary>
      <dl class="facts">
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value ?? "not known"}</dd>
          </div>
        ))}
        {facets.map(([name, { answer, note }]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {answer} {note && <span class="quiet">{note}</span>}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
