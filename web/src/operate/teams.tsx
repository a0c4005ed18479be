import { Refusal } from "../parts/parts";
import { link } from "../route";
import { useList } from "./lists";

/** What is counted, each with the limit of a quota on it. GPU-hours and cost are those of this month. */
const PARTS = [
  ["jobs", "jobs"],
  ["nodes", "nodes"],
  ["gpus", "gpus"],
  ["gpuHours", "gpuHours"],
  ["cost", "budget"],
] as const;
type Amounts = Partial<Record<(typeof PARTS)[number][number] | "waiting", number | null>>;

interface Document {
  document: { teams?: Record<string, { quota?: Amounts | null }> };
  /** What the jobs of each team with a quota have of it. */
  use: Record<string, Amounts>;
}

/** Each team with what its jobs have of its quota. */
export function Teams() {
  const polled = useList<Document>("teams", { document: {}, use: {} });
  const teams = Object.entries(polled.value?.document.teams ?? {});
  return (
    <section aria-labelledby="teams">
      <h2 id="teams">Teams</h2>
      <Refusal error={polled.error} readAt={polled.readAt} />
      {polled.value && teams.length === 0 && <p class="quiet">There are none.</p>}
      {teams.length > 0 && (
        <table class="shares">
          <caption>Use of each quota; GPU-hours and cost of this month</caption>
          <thead>
            <tr>
              <th scope="col">Team</th>
              <th scope="col">Jobs</th>
              <th scope="col">Nodes</th>
              <th scope="col">GPUs</th>
              <th scope="col">GPU-hours</th>
              <th scope="col">Cost</th>
              <th scope="col">Waiting</th>
            </tr>
          </thead>
          <tbody>
            {teams.map(([name, { quota }]) => (
              <tr key={name}>
                <th scope="row">
                  <a href={link(["jobs"], { team: name })}>{name}</a>
                </th>
                {quota ? (
                  <>
                    {PARTS.map(([part, limit]) => (
                      <td key={part}>{share(polled.value?.use[name]?.[part], quota[limit])}</td>
                    ))}
                    <td>{polled.value?.use[name]?.waiting ?? 0}</td>
                  </>
                ) : (
                  <td class="quiet" colSpan={PARTS.length + 1}>
                    no quota
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const share = (used: number | null | undefined, most: number | null | undefined) =>
  typeof most === "number" ? `${amount(used)} of ${amount(most)}` : amount(used);

const amount = (number: number | null | undefined) =>
  (number ?? 0).toLocaleString("en", { maximumFractionDigits: 2 });
