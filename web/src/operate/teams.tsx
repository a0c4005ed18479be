import type { MonthUsage, TeamShare, TeamsUsage } from "../answers";
import { shortNumber } from "../format";
import { Refusal } from "../parts/parts";
import { useRights } from "../rights";
import { link } from "../route";
import { useList } from "./lists";

/** The limits of a quota, by the members of the use and of the quota, and the part that active jobs may still use. */
const PARTS = [
  ["Jobs", "jobs", "jobs", null],
  ["Nodes", "nodes", "nodes", null],
  ["GPUs", "gpus", "gpus", null],
  ["GPU-hours this month", "gpuHours", "gpuHours", "reservedGpuHours"],
  ["Cost this month", "cost", "budget", "reservedCost"],
] as const;
type Amounts = Partial<Record<string, number | null>>;

const SHAPE = { currency: "text", teams: [{ name: "text", months: {} }] } as const;

/** The reader's teams, or all of them for a reader who sees every job, each with the use of its quota. */
export function Teams() {
  const polled = useList<TeamsUsage>("usage", SHAPE);
  const { isAdmin } = useRights();
  const { teams = [], currency = "" } = polled.value ?? {};
  if (!isAdmin && teams.length === 0 && polled.error === undefined) return null;
  const months = teams.flatMap(({ name, months: own }) => Object.entries(own).map(([month, used]) => ({ name, month, used })));
  return (
    <section aria-labelledby="teams">
      <h2 id="teams">Teams</h2>
      <Refusal error={polled.error} readAt={polled.readAt} />
      {polled.value && teams.length === 0 && <p class="quiet">There are none.</p>}
      {teams.length > 0 && <Quotas teams={teams} currency={currency} />}
      {months.length > 0 && (
        <details>
          <summary>What each team used, by month</summary>
          <Months rows={months.toSorted((a, b) => (a.month < b.month ? 1 : -1))} currency={currency} />
        </details>
      )}
    </section>
  );
}

function Quotas({ teams, currency }: { teams: readonly TeamShare[]; currency: string }) {
  return (
    <table class="shares" tabIndex={0}>
      <caption>Use of each quota</caption>
      <thead>
        <tr>
          {["Team", ...PARTS.map(([label]) => label), "Jobs that wait for it", "Loans"].map((label) => (
            <th key={label} scope="col">{label}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {teams.map(({ name, quota, use, error }) => (
          <tr key={name}>
            <th scope="row">
              <a href={link(["jobs"], { team: name })}>{name}</a>
            </th>
            {quota && error === undefined ? (
              PARTS.map(([label, part, limit, reserved]) => (
                <Share
                  key={label}
                  used={use?.[part] ?? 0}
                  reserved={(reserved && use?.[reserved]) ?? 0}
                  most={quota[limit]}
                  unit={part === "cost" ? currency : ""}
                />
              ))
            ) : (
              <td class="quiet" colSpan={PARTS.length}>
                {error === undefined ? "no quota" : `not known: ${error}`}
              </td>
            )}
            <td>{use?.["waiting"]}</td>
            <td>{loans(use)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How many of a team's jobs are on the quotas of others, and how many of others on its own. */
function loans(use: Amounts | null): string {
  const parts = ["borrowed", "lent"].map((name) => [use?.[name] ?? 0, name] as const);
  return parts.flatMap(([number, name]) => (number > 0 ? [`${shortNumber(number)} ${name}`] : [])).join(", ");
}

type ShareProps = { used: number; reserved: number; most: number | null | undefined; unit: string };

/** A part of a quota in words, and as a bar where it has a limit. */
function Share({ used, reserved, most, unit }: ShareProps) {
  const isLimited = typeof most === "number";
  return (
    <td>
      {shortNumber(used)}
      {isLimited && ` of ${shortNumber(most)}`} {unit}
      {reserved > 0 && <span class="quiet" title="what active jobs may still use"> ({shortNumber(reserved)} reserved)</span>}
      {isLimited && most > 0 && <meter aria-hidden="true" max={most} value={used} high={most * 0.9} optimum={0} />}
    </td>
  );
}

function Months({ rows, currency }: { rows: readonly { name: string; month: string; used: MonthUsage }[]; currency: string }) {
  return (
    <table class="shares" tabIndex={0}>
      <caption>By the month in UTC in which jobs ended</caption>
      <thead>
        <tr>
          {["Month", "Team", "Jobs", "Node-hours", "GPU-hours", "Cost"].map((label) => (
            <th key={label} scope="col">{label}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, month, used }) => (
          <tr key={`${name}\n${month}`}>
            <th scope="row">{month}</th>
            <td>{name}</td>
            <td>{used.jobs}</td>
            <td>{shortNumber(used.nodeHours)}</td>
            <td>{shortNumber(used.gpuHours)}</td>
            <td>
              {shortNumber(used.cost)} {currency}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
