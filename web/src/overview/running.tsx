import type { RunningJob } from "../answers";
import { comingTime } from "../days";
import { many, roughly } from "../format";
import { shortWho } from "../who";
import { Sign } from "../parts/icon";
import { Meter } from "../parts/meter";
import { link } from "../route";
import { Name } from "./name";
import { Panel } from "./panel";
import type { Facts } from "./facts";

const DAY = 86_400_000;

/** The newest running jobs: whose they are, how much of their limit has passed, and what they have. */
export function Running({ answer: { running, idle, counts }, among, now }: Facts) {
  const number = counts["running"] ?? 0;
  const lazy = new Map(idle.map(({ id, since }) => [id, since]));
  if (running.length === 0) return null;
  return (
    <Panel
      id="running"
      title="Running"
      count={number.toLocaleString("en")}
      more={
        <a class="link" href={link(["jobs"], { state: "running", ...among })}>
          {number > running.length ? `All ${number.toLocaleString("en")}` : "As a list"}
        </a>
      }
    >
      <ul class="lines running" aria-labelledby="running">
        {running.map((job) => (
          <Row key={job.id} job={job} idleSince={lazy.get(job.id)} now={now} />
        ))}
      </ul>
    </Panel>
  );
}

/** When it ends at the latest. */
function limitOf(until: string | undefined, now: number): string {
  if (until === undefined) return "without a limit";
  const rest = Date.parse(until) - now;
  if (rest > DAY) return `ends within ${roughly(rest)}`;
  return rest > 0 ? `ends by ${comingTime(new Date(until), new Date(now))}` : "at its limit";
}

function Row({ job, idleSince, now }: { job: RunningJob; idleSince: string | undefined; now: number }) {
  const { id, name, owner, team, cluster, nodes, gpus, since, until } = job;
  const ran = Math.max(0, now - Date.parse(since));
  const limit = until === undefined ? undefined : Date.parse(until) - Date.parse(since);
  return (
    <li>
      <div class="two">
        <div class="cut">
          <Name id={id} name={name} />
        </div>
        <div class="cut">{[owner && shortWho(owner), team, cluster].filter(Boolean).join(" · ")}</div>
      </div>
      <div class="two num">
        <Meter parts={[{ of: idleSince === undefined ? "run" : "stuck", amount: limit === undefined ? 0 : Math.min(ran, limit) }]} whole={limit ?? 1} />
        <div class="cut">{limit === undefined ? roughly(ran) : `${roughly(ran)} of at most ${roughly(limit)}`}</div>
      </div>
      <div class="two num">
        <div class="cut">
          {many(nodes, "node")}
          {gpus > 0 && `, ${many(gpus, "GPU")}`}
        </div>
        <div class="cut">
          {idleSince === undefined ? (
            limitOf(until, now)
          ) : (
            <span class="state is-stuck">
              <Sign of="stuck" size={12} />
              idle {roughly(now - Date.parse(idleSince))}
            </span>
          )}
        </div>
      </div>
    </li>
  );
}
