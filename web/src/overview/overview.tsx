import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import type { ComponentType } from "preact";
import type { Overview as Answer } from "../answers";
import { Feed } from "../api";
import { deploymentTime } from "../clock";
import { clockTime } from "../days";
import { duration } from "../format";
import { Refusal, useNow } from "../parts/parts";
import { type Polled, usePoll } from "../poll";
import { CallerContext } from "../rights";
import type { Route } from "../route";
import { Attention } from "./attention";
import { Capacity } from "./capacity";
import { Ended } from "./ended";
import { Hours } from "./hours";
import { Numbers } from "./numbers";
import "./overview.css";
import { Running } from "./running";
import type { Facts } from "./facts";
import { conditionsOf, scopeOf, Scopes } from "./scope";
import { Use } from "./use";
import { Waiting } from "./waiting";

const SHAPE = {
  since: "text",
  counts: {},
  waiting: [{ word: "text", oldest: { id: "text", at: "text" }, next: { id: "text" } }],
  failures: [{ signature: "text", first: { id: "text", at: "text" }, last: { id: "text", at: "text" } }],
  idle: [{ id: "text", since: "text" }],
  running: [{ id: "text", name: "text", since: "text" }],
  ended: [{ id: "text", name: "text", state: "text", at: "text" }],
  ends: { succeeded: "list", failed: "list" },
  clusters: [{ name: "text" }],
  use: "list",
  month: "text",
} as const;

/** Milliseconds after a change: something always changes where many work, and the answer is a few seconds old. */
const PAUSE = 10_000;

/** What runs, what waits and why, what failed, and what is free: one call, and nothing to click. */
export function Overview({ route }: { route: Route }) {
  const caller = useContext(CallerContext);
  const scope = scopeOf(route, caller);
  const feed = useMemo(() => new Feed<Answer>("overview", { scope }, SHAPE), [scope]);
  const polled = usePoll(`overview ${scope}`, (signal) => feed.read(signal), { soonest: PAUSE });
  const now = useNow(deploymentTime, 10_000);
  const facts = polled.value && { answer: polled.value, among: conditionsOf(scope, caller), now: Math.max(now, deploymentTime() - 10_000) };
  return (
    <main class="page overview">
      <div class="title">
        <h1>Overview</h1>
        <Scopes scope={scope} />
        <Fresh of={polled} />
      </div>
      <Refusal error={polled.error} readAt={polled.readAt} />
      {facts ? <Parts {...facts} /> : polled.error === undefined && <Frame />}
    </main>
  );
}

function Parts(facts: Facts) {
  const { counts, use } = facts.answer;
  const isNew = Object.keys(counts).length === 0 && use.every(({ gpuHours, jobs, cost }) => gpuHours + jobs + cost === 0);
  return (
    <>
      <Numbers {...facts} />
      {isNew && <FirstJob />}
      <div class="split">
        <div class="col">
          <Attention {...facts} />
          <Running {...facts} />
          <Waiting {...facts} />
          <Ended {...facts} />
        </div>
        <div class="col">
          <Capacity {...facts} />
          <Hours {...facts} />
          <Use {...facts} />
        </div>
      </div>
    </>
  );
}

const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });

/** The moment, and how old the answer is: an old one is marked. */
function Fresh({ of: { readAt, error } }: { of: Polled<Answer> }) {
  const now = useNow();
  const time = new Date(now);
  return (
    <span class={`fresh num${error ? " old" : ""}`}>
      {DAY.format(time)}, {clockTime(time)}
      {readAt !== undefined && ` · read ${now - readAt < 2000 ? "just now" : `${duration(now - readAt)} ago`}`}
    </span>
  );
}

/** Milliseconds for which an answer may take before grey bars hold its place. */
const SOON = 300;

/** The place of what comes, so that nothing moves when it does. */
function Frame() {
  const [isLate, late] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => late(true), SOON);
    return () => window.clearTimeout(timer);
  }, []);
  const bones = (number: number) => <div class="bones">{isLate && Array.from({ length: number }, (_, index) => <i key={index} />)}</div>;
  return (
    <>
      <p role="status" class="hidden">
        Loading…
      </p>
      <div class="answers" aria-hidden="true">
        {[0, 1, 2, 3].map((index) => (
          <div key={index} class="panel">
            {bones(4)}
          </div>
        ))}
      </div>
      <div class="split" aria-hidden="true">
        <div class="panel">{bones(12)}</div>
        <div class="panel">{bones(8)}</div>
      </div>
    </>
  );
}

/** The way to a first job, which is loaded only where there is none. */
function FirstJob() {
  const [First, setFirst] = useState<ComponentType>();
  useEffect(() => void import("../jobs/first").then(({ First: one }) => setFirst(() => one)), []);
  return First ? <First /> : null;
}

