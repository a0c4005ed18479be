/** One job as a row of values: its parameters, and the last value of each metric. */
import type { JobLine, Metrics, Receipt } from "../../answers";
import { json } from "../../api";
import { ApiError } from "../../apierror";
import { FARTHEST, isUsage, SERIES } from "../../job/series";

export type Value = string | number;

export interface Run {
  job: JobLine;
  parameters: Map<string, Value>;
  metrics: Map<string, number>;
}

/** Reads what the list does not have. Ended jobs stay as they are, so each is read once. */
export async function runOf(job: JobLine, signal: AbortSignal): Promise<Run> {
  const path = `jobs/${encodeURIComponent(job.id)}`;
  const [answer, receipt] = await Promise.all([
    orNothing(json<Metrics>(`${path}/metrics`, { query: { points: 4 }, shape: SERIES, signal })),
    orNothing(json<Receipt>(`${path}/receipt`, { signal })),
  ]);
  return { job, parameters: parametersOf(job, (receipt?.accepted?.properties ?? {}) as Record<string, unknown>), metrics: lastValues(answer) };
}

/** Nothing for parts of a job that the API does not have. */
async function orNothing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

/** The last value of each metric; of several processes that of the first. What the nodes report about themselves is none. */
function lastValues(answer: Metrics | undefined): Map<string, number> {
  const values = new Map<string, number>();
  for (const { name, file, points } of answer?.series ?? []) {
    const last = points.at(-1);
    if (last !== undefined && Math.abs(last[1]) < FARTHEST && !values.has(name) && !isUsage(file)) values.set(name, last[1]);
  }
  return values;
}

/** Values of its sweep, labels, environment variables, and the options of its command line; the first of a name counts. */
export function parametersOf(job: JobLine, properties: Record<string, unknown>): Map<string, Value> {
  const values = new Map<string, Value>();
  const add = (name: string, value: unknown) => {
    if (!values.has(name) && (typeof value === "string" || typeof value === "number")) values.set(name, number(value));
  };
  for (const [name, value] of Object.entries(job.sweep?.values ?? {})) add(name, value);
  for (const [name, value] of Object.entries(job.labels ?? {})) add(name, value);
  for (const one of (properties["environmentVariables"] as { name: string; value: string }[] | undefined) ?? []) {
    if (!one.name.startsWith("SLIPWAY_")) add(one.name, one.value); // these are ours: the values of its sweep once more
  }
  for (const [name, value] of options(commandLines(properties))) if (!/\s/.test(value)) add(name, value); // `python -c "…"` has a program
  add("nodeCount", properties["nodeCount"]);
  return values;
}

function commandLines(properties: Record<string, unknown>): string {
  const toolkits = Object.entries(properties).filter(([name]) => name.endsWith("Settings") && name !== "containerSettings");
  const texts = toolkits.flatMap(([, block]) => Object.entries((block ?? {}) as Record<string, unknown>));
  return texts.filter(([name]) => /commandLine/i.test(name)).map(([, text]) => String(text)).join("\n");
}

/** `--rate 0.1`, `--rate=0.1`; an option without a value is none. */
function options(text: string): [string, string][] {
  return [...text.matchAll(/(?:^|\s)--?([A-Za-z][\w-]*)(?:=|\s+)(?:"([^"]*)"|'([^']*)'|([^\s"'-][^\s"';|&]*|-\.?\d[^\s"';|&]*))/g)].map(
    ([, name = "", double, single, bare]) => [name, double ?? single ?? bare ?? ""],
  );
}

/** A number where it is one that has a place on an axis, otherwise a word. */
const number = (value: Value): Value => (String(value).trim() !== "" && Math.abs(Number(value)) < FARTHEST ? Number(value) : String(value));
