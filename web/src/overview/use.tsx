import type { TeamMonth } from "../answers";
import { amountText, many } from "../format";
import { Meter } from "../parts/meter";
import { link } from "../route";
import { Panel } from "./panel";
import type { Facts } from "./facts";

/** What each team used in this month, apart from what its jobs may still use. */
export function Use({ answer: { use, month, currency, leftOut } }: Facts) {
  const time = new Date(`${month}-15T12:00:00Z`);
  const name = Number.isNaN(time.getTime()) ? month : new Intl.DateTimeFormat("en", { month: "long" }).format(time);
  if (use.length === 0) return null;
  return (
    <Panel
      id="use"
      title={`Use in ${name}`}
      more={
        <a class="link" href={link(["usage"])}>
          Usage
        </a>
      }
    >
      <ul class="fill use num" aria-labelledby="use">
        {use.map((one) => (
          <Team key={one.team ?? ""} of={one} currency={currency} />
        ))}
        {leftOut !== undefined && leftOut.use > 0 && <li class="soft">and {many(leftOut.use, "further team")}</li>}
      </ul>
    </Panel>
  );
}

function Team({ of, currency }: { of: TeamMonth; currency: string }) {
  const { team, jobs, gpuHours, reservedGpuHours, cost, reservedCost, limitGpuHours, budget } = of;
  const byCost = limitGpuHours === undefined && budget !== undefined;
  const [used, reserved, limit] = byCost ? [cost, reservedCost, budget] : [gpuHours, reservedGpuHours, limitGpuHours];
  const amount = (value: number) => (byCost ? `${amountText(value)} ${currency}` : `${amountText(value)} GPU-hours`);
  const isOver = limit !== undefined && limit !== null && used + reserved > limit;
  return (
    <li>
      <div class="pair">
        {team === null ? <b>without a team</b> : <a class="name cut" href={link(["jobs"], { team })}>{team}</a>}
        <span>{limit === undefined || limit === null ? amount(used) : `${amountText(used)} of ${amount(limit)}`}</span>
      </div>
      {limit !== undefined && limit !== null && <Meter parts={[{ of: "run", amount: used }, { of: isOver ? "stuck" : "wait", amount: reserved }]} whole={limit} />}
      <div class="pair soft">
        <span>
          {reserved > 0 ? `${amount(reserved)} reserved by ${many(jobs, "job")}` : jobs > 0 ? `${many(jobs, "active job")}` : limit === undefined || limit === null ? "no limit" : "nothing reserved"}
        </span>
        {!byCost && <span>{`${amountText(cost)} ${currency}`}</span>}
      </div>
    </li>
  );
}
