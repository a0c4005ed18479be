import type { EndedJob } from "../answers";
import { ago, exactTime } from "../days";
import { duration } from "../format";
import { shortWho } from "../who";
import { State } from "../parts/parts";
import { link } from "../route";
import { Name } from "./name";
import { Panel } from "./panel";
import type { Facts } from "./facts";

/** The jobs that ended last: success is quiet, a failure has its error. */
export function Ended({ answer: { ended }, among, now }: Facts) {
  if (ended.length === 0) return null;
  return (
    <Panel
      id="ended"
      title="Ended last"
      more={
        <a class="link" href={link(["jobs"], { order: "ended", ...among })}>
          History
        </a>
      }
    >
      <ul class="lines ended" aria-labelledby="ended">
        {ended.map((job) => (
          <Row key={job.id} job={job} now={now} />
        ))}
      </ul>
    </Panel>
  );
}

function Row({ job: { id, name, owner, state, at, ran, error }, now }: { job: EndedJob; now: number }) {
  const time = new Date(at);
  return (
    <li>
      <State word={state} />
      <div class="cut">
        <Name id={id} name={name} />{" "}
        <span class="soft">{[owner && shortWho(owner), error].filter(Boolean).join(" · ")}</span>
      </div>
      <span class="num soft right">{ran > 0 && `ran ${duration(1000 * ran)}`}</span>
      <time class="soft right" dateTime={at} title={exactTime(time)}>
        {ago(time, new Date(now))}
      </time>
    </li>
  );
}
