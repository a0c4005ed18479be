import type { ComponentChildren } from "preact";
import { many, roughly } from "../format";
import { type Meaning, Sign } from "../parts/icon";
import { Meter, type Part } from "../parts/meter";
import { link } from "../route";
import { kindOf } from "./reasons";
import { freeOf, type Facts, sinceWhen, sumOf, WAITING, WRONG } from "./facts";

interface NumberProps {
  sign: string;
  title: string;
  href: string;
  number: number | string;
  beside: string;
  sentence: string;
  parts: Part[];
}

/** Four numbers that are read from afar, each with a sentence and the way to its jobs. */
export function Numbers(facts: Facts) {
  return (
    <div class="answers">
      <RunningNow {...facts} />
      <WaitingNow {...facts} />
      <Failed {...facts} />
      <Free {...facts} />
    </div>
  );
}

function One({ sign, title, href, number, beside, sentence, parts }: NumberProps): ComponentChildren {
  return (
    <a class="panel answer" href={href}>
      <h2>
        <Sign of={sign} />
        {title}
      </h2>
      <span class="big num">
        {typeof number === "number" ? number.toLocaleString("en") : number} <small>{beside}</small>
      </span>
      <span class="sentence">{sentence}</span>
      <Meter parts={parts} />
    </a>
  );
}

function RunningNow({ answer, among, now }: Facts) {
  const { counts, running, idle } = answer;
  const number = counts["running"] ?? 0;
  const nodes = running.reduce((sum, job) => sum + job.nodes, 0);
  const isWhole = running.length === number;
  const lazy = new Set(idle.map(({ id }) => id));
  const limits = running.flatMap(({ until }) => (until === undefined ? [] : [Date.parse(until)]));
  const next = Math.min(...limits) - now;
  const parts: Part[] = isWhole ? running.map((job) => ({ of: lazy.has(job.id) ? "stuck" : "run", amount: job.nodes })) : [{ of: "run", amount: number - lazy.size }, { of: "stuck", amount: lazy.size }];
  const sentence =
    idle.length > 0
      ? `${idle.length === 1 ? "One is" : `${idle.length} are`} idle`
      : number === 0
        ? "Nothing runs"
        : limits.length > 0 && isWhole
          ? `The next ends in ${roughly(next)} at the latest`
          : "All of them work";
  return (
    <One
      sign="running"
      title="Running"
      href={link(["jobs"], { state: "running", ...among })}
      number={number}
      beside={`${number === 1 ? "job" : "jobs"}${isWhole && number > 0 ? ` on ${many(nodes, "node")}` : ""}`}
      sentence={sentence}
      parts={parts}
    />
  );
}

function WaitingNow({ answer, among, now }: Facts) {
  const { counts, waiting } = answer;
  const number = sumOf(counts, WAITING);
  const oldest = Math.min(...waiting.map((group) => Date.parse(group.oldest.at)));
  const kinds = new Map<string, number>();
  for (const group of waiting) {
    const kind = group.never ? "can never start" : kindOf(group);
    kinds.set(kind, (kinds.get(kind) ?? 0) + group.jobs);
  }
  const sentence = [...kinds].toSorted(([, a], [, b]) => b - a).slice(0, 3).map(([kind, jobs]) => `${jobs.toLocaleString("en")} ${kind}`).join(", ");
  return (
    <One
      sign="queued"
      title="Waiting"
      href={link(["jobs"], { state: WAITING.join(), ...among })}
      number={number}
      beside={number === 0 ? "jobs" : `oldest ${roughly(now - oldest)}`}
      sentence={sentence || "Nothing waits"}
      parts={waiting.map(({ jobs, never }) => ({ of: never ? "stuck" : "wait", amount: jobs }))}
    />
  );
}

function Failed({ answer, among, now }: Facts) {
  const { counts, failures, since } = answer;
  const number = sumOf(counts, WRONG);
  const [good, gone] = [counts["succeeded"] ?? 0, counts["cancelled"] ?? 0];
  const ended = number + good + gone;
  const [largest] = failures;
  const shared = largest !== undefined && largest.jobs > 1 ? `${largest.jobs.toLocaleString("en")} share one cause` : number > 1 ? "Each has a cause of its own" : "";
  return (
    <One
      sign={number > 0 ? "failed" : "succeeded"}
      title={`Failed since ${sinceWhen(since, now)}`}
      href={link(["jobs"], { state: WRONG.join(), order: "ended", since, ...among })}
      number={number}
      beside={`of ${ended.toLocaleString("en")} that ended`}
      sentence={number === 0 ? (ended > 0 ? "All went well" : "Nothing ended") : shared || "See why below"}
      parts={[
        { of: "fail", amount: number },
        { of: "good", amount: good },
        { of: "gone", amount: gone },
      ]}
    />
  );
}

function Free({ answer: { clusters } }: Facts) {
  const counted = clusters.flatMap((one) => freeOf(one) ?? []);
  const [free, most] = [counted.reduce((sum, one) => sum + one.free, 0), counted.reduce((sum, one) => sum + one.most, 0)];
  const nodesIn = (...states: string[]) => clusters.reduce((sum, { nodes }) => sum + (nodes === null ? 0 : sumOf(nodes, states)), 0);
  const silent = clusters.length - counted.length;
  const unusable = nodesIn("unusable");
  const sentence =
    silent > 0
      ? `${many(silent, "cluster")} ${silent === 1 ? "is" : "are"} not counted`
      : unusable > 0
        ? `${many(unusable, "node")} cannot be used`
        : free > 0
          ? `A job of up to ${many(Math.max(...counted.map((one) => one.free)), "node")} finds room`
          : "Every node is in use";
  const sign: Meaning | "succeeded" = free > 0 ? "succeeded" : "wait";
  return (
    <One
      sign={sign}
      title="Free now"
      href={link(["clusters"])}
      number={counted.length > 0 ? free : "–"}
      beside={counted.length > 0 ? `of ${many(most, "node")}` : "not counted yet"}
      sentence={sentence}
      parts={[
        { of: "run", amount: nodesIn("running") },
        { of: "wait", amount: nodesIn("preparing", "leaving") },
        { of: "fail", amount: unusable },
        { of: "hair", amount: free },
      ]}
    />
  );
}
