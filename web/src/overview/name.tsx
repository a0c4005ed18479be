import { visibleName } from "../format";
import { Middle } from "../parts/middle";
import { link } from "../route";

/** The name of a job, which leads to it: a long one loses its middle, and has the whole in its tooltip. */
export function Name({ id, name }: { id: string; name: string }) {
  return (
    <a class="name" href={link(["jobs", id])} title={visibleName(name)}>
      <Middle text={visibleName(name)} />
    </a>
  );
}
