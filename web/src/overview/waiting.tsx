import type { WaitingGroup } from "../answers";
import { many, roughly, visibleName } from "../format";
import { Meter } from "../parts/meter";
import { link } from "../route";
import { Panel } from "./panel";
import { listOf, reasonOf, titleOf } from "./reasons";
import { type Facts, WAITING, sumOf } from "./facts";

/** Jobs that wait for the same are one line, with the oldest, the next, and when something becomes free. */
export function Waiting({ answer: { waiting, counts, leftOut }, among, now }: Facts) {
  const number = sumOf(counts, WAITING);
  const most = Math.max(...waiting.map(({ jobs }) => jobs));
  return (
    <Panel
      id="waiting"
      title="Waiting, by reason"
      count={number > 0 ? number.toLocaleString("en") : undefined}
      more={
        number > 0 && (
          <a class="link" href={link(["jobs"], { state: WAITING.join(), ...among })}>
            As a list
          </a>
        )
      }
    >
      {number === 0 && <p class="empty">Nothing waits.</p>}
      <ul class="lines waiting" aria-labelledby="waiting">
        {waiting.map((group) => (
          <Row key={`${group.word} ${group.subject} ${String(group.never)}`} group={group} most={most} among={among} now={now} />
        ))}
        {leftOut !== undefined && leftOut.waiting > 0 && <li class="rest soft">and {many(leftOut.waiting, "further reason")}</li>}
      </ul>
    </Panel>
  );
}

function Row({ group, most, among, now }: { group: WaitingGroup; most: number; among: Record<string, string>; now: number }) {
  const { jobs, text, never, oldest, next, nextBy } = group;
  const place = listOf(group);
  const waits = roughly(now - Date.parse(oldest.at));
  const free = nextBy === undefined ? "" : `, room within ${roughly(Date.parse(nextBy) - now)}`;
  return (
    <li>
      <span class="n num">{jobs.toLocaleString("en")}</span>
      <div class="two">
        <div class="cut">
          <a class="name" title={titleOf(group)} href={typeof place === "string" ? link(["jobs", place]) : link(["jobs"], { ...place, ...among })}>
            {never ? "Can never start" : titleOf(group)}
          </a>
        </div>
        <div class="cut say" title={text}>
          {!never && jobs > 1 && <>next is <span>{visibleName(next.name)}</span> · </>}
          {reasonOf(group)}
          {jobs === 1 && <> · <span>{visibleName(oldest.name)}</span></>}
        </div>
      </div>
      <div class="two num">
        <Meter parts={[{ of: never ? "stuck" : "wait", amount: jobs }]} whole={most} />
        <div class="cut">
          {jobs === 1 ? waits : `oldest ${waits}`}
          {free}
        </div>
      </div>
    </li>
  );
}
