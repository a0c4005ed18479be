import type { TeamShare, TeamUse } from "../answers";
import { amountText } from "../format";
import { link } from "../route";
import { Meter } from "../parts/meter";

interface Props {
  team: TeamShare;
  currency: string;
}

/** A team: its GPU-hours and its cost of this month, used and reserved, and what it has now. */
export function TeamRow({ team, currency }: Props) {
  const { name, quota, use, error } = team;
  return (
    <li>
      <div class="two">
        <a class="name cut" href={link(["jobs"], { team: name })} title={name}>
          {name}
        </a>
        <div>{use === null ? "" : nowText(use, quota)}</div>
      </div>
      {error !== undefined || use === null ? (
        <p class="notice notice-error unknown">Its use is not known{error && `: ${error}`}</p>
      ) : (
        <>
          <Amount what="GPU-hours" used={use.gpuHours - use.reservedGpuHours} reserved={use.reservedGpuHours} most={quota?.gpuHours} />
          <Amount what={currency} used={use.cost - use.reservedCost} reserved={use.reservedCost} most={quota?.budget} />
          <div class="waits">
            {use.waiting > 0 ? (
              <a href={link(["jobs"], { team: name, state: "accepted" })}>
                {use.waiting.toLocaleString()} {use.waiting === 1 ? "job waits" : "jobs wait"} for it
              </a>
            ) : (
              <span class="soft">{quota ? "none waits for it" : "no quota"}</span>
            )}
            {loans(use) && <span class="soft">{loans(use)}</span>}
          </div>
        </>
      )}
    </li>
  );
}

/** What its jobs at work, and those that a cluster is given, claim; each with its limit where there is one. */
function nowText(use: TeamUse, quota: TeamShare["quota"]): string {
  const parts = [
    ["job", use.jobs, quota?.jobs],
    ["node", use.nodes, quota?.nodes],
    ["GPU", use.gpus, quota?.gpus],
  ] as const;
  return `claimed now: ${parts.map(([name, number, most]) => `${number}${most === undefined ? "" : ` of ${most}`} ${name}${(most ?? number) === 1 ? "" : "s"}`).join(", ")}`;
}

/** How many of a team's jobs are on the quotas of others, and how many of others on its own. */
function loans({ borrowed, lent }: TeamUse): string {
  return [borrowed > 0 && `${borrowed} borrowed`, lent > 0 && `${lent} lent`].filter(Boolean).join(", ");
}

/** Numbers that are nothing but rounding are none. */
const tidy = (number: number) => amountText(Math.abs(number) < 1e-9 ? 0 : number);

function Amount({ what, used, reserved, most }: { what: string; used: number; reserved: number; most: number | undefined }) {
  return (
    <div class="amount">
      <div class="pair">
        <span>
          <b class="num">{tidy(used)}</b> {what} used
        </span>
        <span class="soft">{most === undefined ? "no limit" : `of ${amountText(most)}`}</span>
      </div>
      {most !== undefined && <Meter parts={[{ of: "run", amount: used }, { of: "wait", amount: reserved }]} whole={most} />}
      <div class="pair soft">
        <span>{reserved > 0 ? `${tidy(reserved)} reserved` : "none reserved"}</span>
        {most !== undefined && most > 0 && <span>{Math.round((100 * (used + reserved)) / most)} %</span>}
      </div>
    </div>
  );
}
