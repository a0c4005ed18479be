import type { ComponentChildren } from "preact";
import type { FailureGroup, IdleJob, WaitingGroup } from "../answers";
import { ago, clockTime } from "../days";
import { many, roughly, visibleName } from "../format";
import { Sign } from "../parts/icon";
import { link } from "../route";
import { Panel } from "./panel";
import { Name } from "./name";
import { listOf, reasonOf } from "./reasons";
import { type Facts, WRONG, sinceWhen } from "./facts";

/** Errors that are shown one by one; others are in the list. */
const MOST = 5;

/** What needs someone: errors, each once with its number, jobs that can never start, those that do nothing, silent clusters. */
export function Attention(facts: Facts) {
  const { answer, among, now } = facts;
  const { failures, idle, clusters, leftOut } = answer;
  const never = answer.waiting.filter((group) => group.never);
  const silent = clusters.filter(({ nodes, at }) => nodes === null && at !== null);
  const further = Math.max(0, failures.length - MOST) + (leftOut?.failures ?? 0);
  const number = failures.length + (leftOut?.failures ?? 0) + never.length + idle.length + silent.length;
  const all = link(["jobs"], { state: WRONG.join(), order: "ended", since: answer.since, ...among });
  return (
    <Panel id="attention" title="Needs attention" count={number || undefined} more={failures.length > 0 && <a class="link" href={all}>All that failed</a>}>
      {number === 0 && <p class="empty">Nothing needs anyone. {succeeded(facts)}</p>}
      <ul class="lines todo" aria-labelledby="attention" data-start>
        {never.map((group) => (
          <Never key={group.oldest.id} group={group} now={now} />
        ))}
        {idle.map((job) => (
          <Idle key={job.id} job={job} now={now} />
        ))}
        {silent.map(({ name, at }) => (
          <Entry key={name} sign="stuck" first={<><a class="name" href={link(["clusters"])}>{name}</a> does not answer</>} second={at === null ? "" : `since ${sinceWhen(at, now)}`}>
            <a class="button" href={link(["clusters"])}>
              Open<span class="hidden"> {name}</span>
            </a>
          </Entry>
        ))}
        {failures.slice(0, MOST).map((group) => (
          <Failure key={group.signature} group={group} since={answer.since} among={among} now={now} />
        ))}
        {further > 0 && (
          <li class="rest">
            <a class="link" href={all}>
              {many(further, "further error")}
            </a>
          </li>
        )}
      </ul>
    </Panel>
  );
}

function succeeded({ answer: { counts, since }, now }: Facts): string {
  const good = counts["succeeded"] ?? 0;
  return good > 0 ? `${many(good, "job")} succeeded since ${sinceWhen(since, now)}.` : `Nothing failed since ${sinceWhen(since, now)}.`;
}

/** One that needs someone: what it is, why in the words of who knows, and what to do. */
function Entry({ sign, first, second, children }: { sign: string; first: ComponentChildren; second: ComponentChildren; children: ComponentChildren }) {
  const isSentence = typeof second === "string";
  return (
    <li>
      <Sign of={sign} size={16} />
      <div class="two">
        <div class="cut">{first}</div>
        <div class={isSentence ? "cut say" : "cut"} title={isSentence ? second : undefined}>
          {second}
        </div>
      </div>
      <div class="acts">{children}</div>
    </li>
  );
}

function Failure({ group, since, among, now }: { group: FailureGroup; since: string; among: Record<string, string>; now: number }) {
  const { signature, error: words, state, jobs, first, last } = group;
  const word = state === "failed" ? "failed" : state === "lost" ? "were lost" : "were rejected";
  const list = link(["jobs"], { ...(signature ? { error: signature } : { state }), order: "ended", since, ...among });
  const error = (
    <span class="mono" title={words}>
      {words || `no error is known: ${state}`}
    </span>
  );
  if (jobs === 1) {
    return (
      <Entry
        sign={state}
        first={<><Name id={last.id} name={last.name} /> {state === "failed" ? "failed" : `was ${state}`} <span class="soft">{ago(new Date(last.at), new Date(now))}</span></>}
        second={error}
      >
        <a class="button" href={link(["jobs", last.id])}>
          Open<span class="hidden"> {visibleName(last.name)}</span>
        </a>
        <Next of={group} />
      </Entry>
    );
  }
  return (
    <Entry
      sign={state}
      first={<><a class="name" href={list}>{many(jobs, "job")}</a> {word} with the same error <span class="soft">{ago(new Date(last.at), new Date(now))}</span></>}
      second={<>{error} · first <span>{visibleName(first.name)}</span> at {clockTime(new Date(first.at))}, last <span>{visibleName(last.name)}</span></>}
    >
      <a class="button" href={list}>
        Show the {jobs.toLocaleString("en")}
        <span class="hidden"> with {words}</span>
      </a>
      <Next of={group} />
    </Entry>
  );
}

/** The way on: a rejected document can be mended, and was never run. */
function Next({ of: { state, last } }: { of: FailureGroup }) {
  const isDocument = state === "rejected";
  return (
    <a class="button bare" href={isDocument ? link(["new"], { from: last.id }) : link(["jobs", last.id, "log"])}>
      {isDocument ? "Fix it" : "Log"}
      <span class="hidden">{isDocument ? `: ${visibleName(last.name)}` : ` of ${visibleName(last.name)}`}</span>
    </a>
  );
}

/** Jobs that can never start as things stand, with the change that they need in the words of the API. */
function Never({ group, now }: { group: WaitingGroup; now: number }) {
  const { jobs, oldest } = group;
  const name = visibleName(oldest.name);
  const place = listOf(group);
  const href = typeof place === "string" ? link(["jobs", place]) : link(["jobs"], place);
  return (
    <Entry
      sign="stuck"
      first={<>{jobs === 1 ? <Name id={oldest.id} name={oldest.name} /> : <a class="name" href={href}>{many(jobs, "job")}</a>} can never start <span class="soft">for {roughly(now - Date.parse(oldest.at))}</span></>}
      second={reasonOf(group)}
    >
      <a class="button" href={href}>
        {jobs === 1 ? "Open" : `Show the ${jobs.toLocaleString("en")}`}
        <span class="hidden"> {jobs === 1 ? name : "that can never start"}</span>
      </a>
      <a class="button bare" href={link(["new"], { from: oldest.id })}>
        Change it<span class="hidden">: {name}</span>
      </a>
    </Entry>
  );
}

function Idle({ job: { id, name, since, endsAfter }, now }: { job: IdleJob; now: number }) {
  return (
    <Entry
      sign="stuck"
      first={<><Name id={id} name={name} /> is idle</>}
      second={`for ${roughly(now - Date.parse(since))}; it is ended at ${clockTime(new Date(endsAfter))} unless it works again`}
    >
      <a class="button" href={link(["jobs", id])}>
        Open<span class="hidden"> {visibleName(name)}</span>
      </a>
      <a class="button bare" href={link(["jobs", id, "metrics"])}>
        Metrics<span class="hidden"> of {visibleName(name)}</span>
      </a>
    </Entry>
  );
}
