import type { ClusterNode } from "../answers";

/** Most nodes that are shown one by one. */
const MOST = 48;
const KINDS = new Map(Object.entries({ running: "busy", idle: "free", preparing: "up", unusable: "bad" }));

/** The nodes of a cluster, each with its state. */
export function Nodes({ name, members }: { name: string; members: readonly ClusterNode[] }) {
  if (members.length === 0) return null;
  const more = members.length - MOST;
  return (
    <ul class="nodes" aria-label={`Nodes of ${name}`}>
      {members.slice(0, MOST).map((node) => (
        <li key={node.name} class={KINDS.get(node.state) ?? "off"}>
          <code class="cut" title={node.name}>
            {node.name}
          </code>
          {node.state}
        </li>
      ))}
      {more > 0 && <li class="off">and {more.toLocaleString()} more</li>}
    </ul>
  );
}
