import { useRef, useState } from "preact/hooks";
import { ENDS, type JobLine } from "../../answers";
import { shortNumber } from "../../format";
import { Refusal } from "../../parts/parts";
import { usePoll } from "../../poll";
import { link } from "../../route";
import { type Run, runOf, type Value } from "./run";
import { Scatter } from "./scatter";

/** Jobs whose numbers are read: two requests each, four jobs at once. */
const MOST = 100;
const AT_ONCE = 4;

interface Props {
  jobs: readonly JobLine[];
  chosen: Record<string, string>;
  onChoose: (chosen: Record<string, string>) => void;
}

/** A parameter of the jobs of a list against a metric, as a plot and as a table. */
export function Compare({ jobs, chosen, onChoose }: Props) {
  const ended = jobs.filter((job) => ENDS.has(job.state) && job.state !== "rejected").slice(0, MOST);
  const { runs, left, polled } = useRuns(ended);
  const parameters = varied(runs.map((run) => run.parameters));
  const metrics = [...new Set(runs.flatMap((run) => [...run.metrics.keys()]))].toSorted();
  const x = parameters.includes(chosen["x"] ?? "") ? chosen["x"]! : (parameters[0] ?? "");
  const y = metrics.includes(chosen["y"] ?? "") ? chosen["y"]! : (metrics[0] ?? "");
  const points = runs.flatMap(({ job, parameters: own, metrics: numbers }) => {
    const [across, up] = [own.get(x), numbers.get(y)];
    return across === undefined || up === undefined ? [] : [{ id: job.id, name: job.name, x: across, y: up }];
  });
  const isReady = x !== "" && y !== "";
  return (
    <section aria-label="Comparison" class="panel compare">
      <form class="tools" onSubmit={(event) => event.preventDefault()}>
        <Choice label="Parameter" names={parameters} value={x} onChange={(name) => onChoose({ ...chosen, x: name })} />
        <Choice label="Last value of" names={metrics} value={y} onChange={(name) => onChoose({ ...chosen, y: name })} />
        <span class="quiet" role="status">
          {left > 0 ? `Reading ${left} more jobs…` : `${points.length} of ${jobs.length} jobs have both.`}
        </span>
      </form>
      <Refusal error={polled.error} readAt={polled.readAt} />
      {isReady && points.length > 0 && (
        <>
          <Scatter points={points} x={x} y={y} />
          <Table points={points} x={x} y={y} />
        </>
      )}
      {!isReady && left === 0 && (
        <p class="quiet">
          There is nothing to compare: ended jobs that differ in a label, a variable or an option of their command line, and report numbers, are shown here.
        </p>
      )}
    </section>
  );
}

function Choice({ label, names, value, onChange }: { label: string; names: string[]; value: string; onChange: (name: string) => void }) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

function Table({ points, x, y }: { points: { id: string; name: string; x: Value; y: number }[]; x: string; y: string }) {
  return (
    <table class="values">
      <thead>
        <tr>
          {["Job", x, y].map((name) => (
            <th key={name} scope="col">{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {points.toSorted((a, b) => a.y - b.y).map((point) => (
          <tr key={point.id}>
            <td>
              <a href={link(["jobs", point.id])}>{point.name}</a>
            </td>
            <td>{point.x}</td>
            <td>{shortNumber(point.y)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The names whose values differ between the runs; those with the fewest words come first. */
function varied(all: readonly Map<string, Value>[]): string[] {
  const names = [...new Set(all.flatMap((one) => [...one.keys()]))];
  return names.filter((name) => new Set(all.map((one) => one.get(name))).size > 1);
}

function useRuns(jobs: readonly JobLine[]) {
  const byId = useRef(new Map<string, Run>()).current;
  const [, draw] = useState({});
  const read = async (signal: AbortSignal) => {
    const waiting = jobs.filter((job) => !byId.has(job.id));
    const work = async () => {
      for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
        byId.set(job.id, await runOf(job, signal));
        draw({});
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    return byId.size;
  };
  const polled = usePoll("runs", read, { version: jobs.map((job) => job.id).join(), isFinal: () => true });
  const runs = jobs.flatMap((job) => byId.get(job.id) ?? []);
  return { runs, left: polled.error ? 0 : jobs.length - runs.length, polled };
}
