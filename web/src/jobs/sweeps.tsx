import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { SweepLine, SweepList } from "../answers";
import { Feed } from "../api";
import { Refusal, State } from "../parts/parts";
import { LATEST, usePoll } from "../poll";
import { link } from "../route";
import { When } from "./groups";

const SHAPE = { sweeps: [{ sweepId: "text", name: "text", state: "text", createdAt: "text", counts: {} }] } as const;
/** The most that one answer has. */
const MOST = 200;
/** Sweeps that ended since then are shown, and once the reader asks for older ones: all that are not archived. */
const [RECENT, ALL] = ["7d", "500w"];

/** The sweeps that are active and those that ended lately, each with the numbers of all its jobs. */
export function Sweeps({ ways }: { ways: ComponentChildren }) {
  const [since, look] = useState(RECENT);
  const feed = useMemo(() => new Feed<SweepList>("sweeps", { since, limit: MOST }, SHAPE), [since]);
  const { value, error, readAt } = usePoll("sweeps", (signal) => feed.read(signal), { latest: LATEST, version: since });
  return (
    <main class="page jobs">
      <div class="title">
        <h1>Sweeps</h1>
        {value && (
          <span class="count">
            {value.sweeps.length.toLocaleString()}
            {value.more ? "+" : ""} {value.sweeps.length === 1 ? "sweep" : "sweeps"}
          </span>
        )}
        {ways}
      </div>
      <Refusal error={error} readAt={readAt} />
      {value === undefined && !error && <p role="status">Loading…</p>}
      {value && (
        <section class="panel groups" aria-label="Sweeps">
          <ul>
            {value.sweeps.map((sweep) => (
              <Line key={sweep.sweepId} sweep={sweep} />
            ))}
          </ul>
          <p class="quiet">
            {remark(value, since)}{" "}
            {since !== ALL && (
              <button type="button" onClick={() => look(ALL)}>
                Include older ones
              </button>
            )}
          </p>
        </section>
      )}
    </main>
  );
}

function remark({ sweeps, more }: SweepList, since: string): string {
  const ended = since === ALL ? "ended" : "ended in the last 7 days";
  if (sweeps.length === 0) return since === ALL ? "No sweep is recorded." : `No sweep is active, and none has ${ended}.`;
  return `${more ? `There are more than these ${sweeps.length.toLocaleString()}. ` : ""}Those that are active, then those that have ${ended}.`;
}

function Line({ sweep }: { sweep: SweepLine }) {
  const { sweepId, name, total, endedAt } = sweep;
  return (
    <li>
      <a class="name" href={link(["jobs"], { sweep: sweepId })} title={sweepId}>
        {name}
      </a>
      <span class="counts">
        <span>
          {sweep.state === "active" && sweep.cancelRequested ? "being cancelled" : sweep.state}, {total} jobs:
        </span>
        {Object.entries(sweep.counts).map(([state, number]) => (
          <span key={state}>
            {number} <State word={state} />
          </span>
        ))}
        {sweep.atWork > 0 && <span>{sweep.atWork} at work</span>}
        {sweep.waiting > 0 && <span>{sweep.waiting} waiting</span>}
      </span>
      <span class="soft">
        {endedAt ? "ended" : "begun"} <When at={endedAt ?? sweep.createdAt} />
      </span>
      <a href={link(["jobs"], { sweep: sweepId, view: "compare" })}>
        Compare<span class="hidden"> the jobs of {name}</span>
      </a>
    </li>
  );
}
