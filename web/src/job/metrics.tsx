import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { ENDS, type JobDetail } from "../answers";
import { deploymentTime } from "../clock";
import { shortNumber } from "../format";
import { colourOf, useChart } from "../parts/chart";
import { Notice } from "../parts/parts";
import type { Live } from "./live";
import { aligned, type Plot, padded, spread, tickTexts } from "./series";

const HEIGHT = 172;
/** The colours of curves, in this order. */
const COLOURS = 5;
/** Curves whose last values stand above a plot. */
const NAMED = 4;

interface Props {
  job: JobDetail;
  live: Live;
  /** The one whose numbers they are; "" for the current one. */
  attempt: string;
  /** Whether the first answer has come. */
  isRead: boolean;
  /** Greater after each change. */
  version: number;
}

/** The numbers that a job and its nodes report: train and validation on one scale, and all that has times on one axis of time. */
export function Metrics({ job, live, attempt, isRead, version }: Props) {
  const ended = ENDS.has(job.state);
  const plots = useMemo(() => live.plots.all, [live, version]);
  const time = timesOf(job, attempt, plots);
  return (
    <section class="panel" aria-labelledby="metrics">
      <header>
        <h2 id="metrics">Metrics</h2>
      </header>
      {live.plots.note && <Notice kind="info">{live.plots.note}</Notice>}
      {isRead && plots.length === 0 && <p class="nothing">The job has reported no numbers{ended ? "" : " yet"}.</p>}
      {plots.length > 0 && (
        <div class="charts">
          {plots.map((plot) => (
            <Curves key={plot.key} plot={plot} time={time} version={version} />
          ))}
        </div>
      )}
    </section>
  );
}

/** From the start of the attempt to its end, or to now: the axis of all plots over time, in seconds. */
function timesOf(job: JobDetail, attempt: string, plots: readonly Plot[]): [number, number] | undefined {
  const ends = plots.filter(({ axis }) => axis === "time").flatMap(({ curves }) => curves.flatMap(({ points }) => [points[0]?.[0], points.at(-1)?.[0]]));
  const moments = ends.filter((one): one is number => one !== undefined && Math.abs(one) < 8e12);
  if (moments.length === 0) return undefined;
  const [first, last] = [Math.min(...moments), Math.max(...moments)];
  const one = job.attempts?.find(({ attempt: number }) => String(number) === attempt) ?? job.attempts?.at(-1);
  const ended = one?.endedAt ?? job.endedAt;
  const [start, end] = [Date.parse(one?.runningAt ?? job.startedAt ?? "") / 1000, (ended === undefined ? deploymentTime() : Date.parse(ended)) / 1000];
  // Numbers of another time, such as those of a run that is copied, are shown at theirs.
  return start <= first && last <= end + 60 && end - start < 10 * (last - first + 60) ? [start, Math.max(end, last)] : [first, last];
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const SECONDS = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** Ticks of time: as much of it as tells them apart. */
function clocks(_: uPlot, ticks: number[]): string[] {
  const format = [DAY, CLOCK].find((one) => new Set(ticks.map((tick) => one.format(tick * 1000))).size === ticks.length && (one === CLOCK || ticks.length > 1)) ?? SECONDS;
  return ticks.map((tick) => format.format(tick * 1000));
}

/** One plot; a reader of the screen gets the last value of each curve. */
function Curves({ plot, time, version }: { plot: Plot; time: [number, number] | undefined; version: number }) {
  const box = useChart(
    (across, up) => {
      const data = aligned(plot);
      const [places] = data;
      const isTime = plot.axis === "time";
      const [first, last] = isTime && time ? time : [places[0] ?? null, places.at(-1) ?? null];
      // By default, the plot draws three years around a single time.
      const x = { time: isTime, range: spread(first, last, 30) };
      const y: uPlot.Scale = { range: (_, least, most) => (plot.isShare ? [Math.min(0, least), Math.max(100, most)] : padded(least, most)) };
      const series = plot.curves.map((_, index) => ({ stroke: colourOf(`--c${(index % COLOURS) + 1}`), width: 1.6, spanGaps: true, points: { show: plot.curves[index]!.points.length < 2 } }));
      const values = (_: uPlot, ticks: number[]) => tickTexts(ticks);
      const below: uPlot.Axis = { ...across, size: 26, gap: 4, values: isTime ? clocks : values };
      const axes: uPlot.Axis[] = [below, { ...up, gap: 4, values, space: 30 }];
      return { options: { height: HEIGHT, padding: [6, isTime ? 26 : 14, 0, 0], scales: { x, y }, axes, cursor: { points: { size: 5 } }, series: [{}, ...series] }, data };
    },
    [version, time?.[0], time?.[1]],
  );
  return (
    <figure>
      <figcaption>
        <span title={plot.files.join(", ")}>{plot.title}</span>
        <small class="num">
          {plot.curves.slice(0, NAMED).map(({ label, points }, index) => (
            <span key={label} class={plot.curves.length > 1 ? `key k${(index % COLOURS) + 1}` : ""}>
              {[label, shortNumber(points.at(-1)?.[1])].filter(Boolean).join(" ")}
            </span>
          ))}
          {plot.curves.length > NAMED && <span>{`and ${plot.curves.length - NAMED} more`}</span>}
        </small>
      </figcaption>
      <div ref={box} aria-hidden="true" />
      {plot.axis !== "time" && <small class="axis">{plot.axis}</small>}
    </figure>
  );
}
