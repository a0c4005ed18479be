import { useEffect, useState } from "preact/hooks";
import type { JobLine } from "../../answers";
import { deploymentTime } from "../../clock";
import { elapsed, shortNumber } from "../../format";
import { Middle } from "../../parts/middle";
import { Refusal, State, useNow } from "../../parts/parts";
import { link } from "../../route";
import { type Curve, firstMetric, growsBetter, MOST, useCurves } from "./curves";
import { CurvesPlot } from "./plot";
import { SweepSummary } from "./summary";
import "./sweep.css";

/** Curves that are drawn, those of the best. */
const DRAWN = 100;

interface Props {
  id: string;
  jobs: readonly JobLine[];
  /** Members of the address: `metric`, `goal`, `sort` and `desc`. */
  chosen: Record<string, string>;
  onChoose: (members: Record<string, string>) => void;
  onMore: (() => void) | undefined;
}

type Cell = string | number | undefined;

interface Trial {
  job: JobLine;
  curve: Curve | undefined;
  cells: Record<string, Cell>;
}

/** A sweep as one: the best value so far, how far it is, all curves over each other, and its jobs by their parameters. */
export function Sweep({ id, jobs, chosen, onChoose, onMore }: Props) {
  const curves = useCurves(jobs);
  const now = useNow(deploymentTime);
  useEffect(() => {
    if (jobs.length < MOST) onMore?.(); // the best may be any of them
  }, [jobs.length, onMore]);
  const metrics = [...new Set(jobs.flatMap((job) => [...(curves.curvesOf(job)?.keys() ?? [])]))].toSorted();
  const metric = metrics.includes(chosen["metric"] ?? "") ? (chosen["metric"] ?? "") : firstMetric(metrics);
  const goal = goalOf(chosen["goal"], metric);
  const parameters = [...new Set(jobs.flatMap((job) => Object.keys(job.sweep?.values ?? {})))];
  const trials = jobs.map((job): Trial => {
    const curve = curves.curvesOf(job)?.get(metric);
    return { job, curve, cells: cellsOf(job, curve, goal, now) };
  });
  const best = bestOf(trials, goal);
  const reporting = trials.filter(({ curve }) => curve).length;
  const basis = onMore !== undefined || curves.unread > 0 ? jobs.length - curves.unread : undefined;
  const drawn = sorted(trials, "best", goal === "highest").slice(0, DRAWN).flatMap(({ job, curve }) => (curve ? [{ id: job.id, name: job.name, curve }] : []));
  const [hovered, hover] = useState("");
  return (
    <div class="sweep-view">
      <SweepSummary id={id} job={jobs[0]} basis={basis} best={best && { text: shortNumber(Number(best.cells["best"])), name: best.job.name, measure: `${metric}, the ${goal}` }} />
      <Refusal error={curves.polled.error} readAt={curves.polled.readAt} />
      <form class="tools" aria-label="Values" onSubmit={(event) => event.preventDefault()}>
        {metrics.length > 0 && (
          <label>
            Metric{" "}
            <select value={metric} onChange={(event) => onChoose({ metric: event.currentTarget.value, goal: "" })}>
              {metrics.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        {metrics.length > 0 && (
          <div class="seg" role="group" aria-label="The best value">
            {(["lowest", "highest"] as const).map((one) => (
              <button key={one} type="button" aria-pressed={goal === one} onClick={() => onChoose({ goal: one, sort: "", desc: "" })}>
                {one}
              </button>
            ))}
          </div>
        )}
        <span role="status" class="soft">
          {curves.waiting > 0 ? `Reading ${curves.waiting} more jobs…` : metrics.length === 0 ? "No job has reported numbers yet." : `${reporting} of ${jobs.length} jobs report it.`}
          {reporting > DRAWN && ` The best ${DRAWN} are drawn.`}
        </span>
      </form>
      {drawn.length > 0 && <CurvesPlot metric={metric} drawn={drawn} bestId={best?.job.id ?? ""} chosenId={hovered} version={curves.version} />}
      <Trials trials={trials} parameters={parameters} metric={metric} goal={goal} best={best} chosen={chosen} onChoose={onChoose} onHover={hover} />
      {onMore && (
        <p class="soft">
          The newest {jobs.length.toLocaleString()} are here.{" "}
          <button type="button" onClick={onMore}>
            Include older ones
          </button>
        </p>
      )}
    </div>
  );
}

type Goal = "lowest" | "highest";

function goalOf(text: string | undefined, metric: string): Goal {
  if (text === "lowest" || text === "highest") return text;
  return growsBetter(metric) ? "highest" : "lowest";
}

function cellsOf(job: JobLine, curve: Curve | undefined, goal: Goal, now: number): Record<string, Cell> {
  const values = Object.entries(job.sweep?.values ?? {}).map(([name, value]): [string, Cell] => [`=${name}`, typeof value === "number" ? value : typeof value === "string" ? value : JSON.stringify(value)]);
  const ran = job.startedAt === undefined ? undefined : (job.endedAt === undefined ? now : Date.parse(job.endedAt)) - Date.parse(job.startedAt);
  return { ...Object.fromEntries(values), job: job.name, state: job.state, best: curve?.[goal], last: curve?.last, ran };
}

function bestOf(trials: readonly Trial[], goal: Goal): Trial | undefined {
  const some = trials.filter(({ curve }) => curve);
  const sign = goal === "lowest" ? 1 : -1;
  return some.toSorted((a, b) => sign * (Number(a.cells["best"]) - Number(b.cells["best"])))[0];
}

interface TrialsProps {
  trials: readonly Trial[];
  parameters: readonly string[];
  metric: string;
  goal: Goal;
  best: Trial | undefined;
  chosen: Record<string, string>;
  onChoose: (members: Record<string, string>) => void;
  onHover: (id: string) => void;
}

/** The jobs as a table, in the order of any of its columns: at first the best come first. */
function Trials({ trials, parameters, metric, goal, best, chosen, onChoose, onHover }: TrialsProps) {
  const columns: [id: string, label: string][] = [
    ["state", "State"],
    ["job", "Job"],
    ...parameters.map((name): [string, string] => [`=${name}`, name]),
    ...(metric ? ([["best", `${metric}, ${goal}`], ["last", `${metric}, last`]] as [string, string][]) : []),
    ["ran", "Ran"],
  ];
  const sort = columns.some(([id]) => id === chosen["sort"]) ? (chosen["sort"] ?? "") : metric ? "best" : "job";
  const isDown = chosen["sort"] === sort ? chosen["desc"] === "1" : sort === "best" && goal === "highest";
  const sortBy = (id: string) => onChoose({ sort: id, desc: (id === sort ? !isDown : id === "best" && goal === "highest") ? "1" : "" });
  return (
    <section class="panel trials" aria-label="Trials" tabIndex={0}>
      <table aria-label="Jobs">
        <thead>
          <tr>
            {columns.map(([id, label]) => (
              <th key={id} scope="col" class={`of-${id.replace(/^=.*/, "value")}`} aria-sort={id !== sort ? undefined : isDown ? "descending" : "ascending"}>
                <button type="button" class="bare" onClick={() => sortBy(id)}>
                  {label}
                  <span aria-hidden="true" class="arrow">{id === sort ? (isDown ? "↓" : "↑") : ""}</span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted(trials, sort, isDown).map(({ job, curve, cells }) => (
            <tr key={job.id} class={job.id === best?.job.id ? "best" : ""} onMouseEnter={() => onHover(job.id)} onMouseLeave={() => onHover("")}>
              <td class="of-state">
                <State word={job.state} />
              </td>
              <td class="of-job">
                <a class="name" href={link(["jobs", job.id])} title={job.name} aria-label={job.name}>
                  <Middle text={job.name} />
                </a>
                {job.lastError && <span class="remark mono cut" title={job.lastError}>{job.lastError}</span>}
              </td>
              {parameters.map((name) => (
                <td key={name} class="of-value mono">{cells[`=${name}`]}</td>
              ))}
              {metric && <td class="of-best num">{curve && shortNumber(curve[goal])}</td>}
              {metric && <td class="of-last num">{curve && shortNumber(curve.last)}</td>}
              <td class="of-ran num">{elapsed(job.startedAt, job.endedAt, deploymentTime())}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** By a column, numbers before words; jobs without a value come last, whichever way. */
function sorted(trials: readonly Trial[], column: string, isDown: boolean): Trial[] {
  const sign = isDown ? -1 : 1;
  return trials.toSorted(({ cells: a }, { cells: b }) => {
    const [one, other] = [a[column], b[column]];
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    if (typeof one === "number" && typeof other === "number") return sign * (one - other);
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return sign * String(one).localeCompare(String(other), undefined, { numeric: true });
  });
}
