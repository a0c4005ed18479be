import { useMemo, useRef } from "preact/hooks";
import type uPlot from "uplot";
import { ENDS, type JobDetail, type Metrics as MetricsAnswer } from "../answers";
import { json } from "../api";
import { shortNumber } from "../format";
import { useChart } from "../parts/chart";
import { Notice, Refusal } from "../parts/parts";
import { usePoll } from "../poll";
import { padded, aligned, spread, Plots, type Plot, SERIES } from "./series";

/** With the poll of the job beside it, four requests a minute. */
const LATEST = 30_000;
const HEIGHT = 220;
/** Answers that are read before they are drawn. */
const ANSWERS = 8;

/** The numbers that a job and its nodes report, one plot for each name, while it runs and after. */
export function Metrics({ job }: { job: JobDetail }) {
  const plots = useMemo(() => new Plots(), [job.id]);
  const ended = ENDS.has(job.state);
  const hasMore = useRef(true);
  const read = async (signal: AbortSignal) => {
    // What is here is drawn before the rest is read: there may be no end of it.
    hasMore.current = true;
    for (let count = 0; hasMore.current && count < ANSWERS && !signal.aborted; count += 1) {
      const answer = await json<MetricsAnswer>(`jobs/${encodeURIComponent(job.id)}/metrics`, {
        query: { after: plots.next, points: 1000 },
        shape: SERIES,
        signal,
      });
      plots.add(answer);
      hasMore.current = answer.more;
    }
    return plots.version;
  };
  const polled = usePoll(`${job.id}\n${ended}`, read, { latest: LATEST, isFinal: () => ended && !hasMore.current });
  return (
    <section aria-labelledby="metrics">
      <h2 id="metrics">Metrics</h2>
      <Refusal error={polled.error} readAt={polled.readAt} />
      {plots.note && <Notice kind="info">{plots.note}</Notice>}
      {polled.value !== undefined && plots.all.length === 0 && <p class="quiet">The job has reported no numbers{ended ? "" : " yet"}.</p>}
      <div class="plots">
        {plots.all.map((plot) => (
          <Curves key={plot.name} plot={plot} version={plots.version} />
        ))}
      </div>
    </section>
  );
}

/** One plot; a reader of the screen gets the last value of each curve. */
function Curves({ plot, version }: { plot: Plot; version: number }) {
  const box = useChart(
    (across, up) => {
      const data = aligned(plot);
      const [places] = data;
      // By default, the plot draws three years around a single time.
      const x = { time: plot.axis === "time", range: spread(places[0] ?? null, places.at(-1) ?? null, 30) };
      const y: uPlot.Scale = { range: (_, least, most) => (plot.isShare ? [Math.min(0, least), Math.max(100, most)] : padded(least, most)) };
      const series = plot.curves.map((_, index) => ({ stroke: `hsl(${(index * 67 + 210) % 360} 70% 50%)`, spanGaps: true }));
      return { options: { height: HEIGHT, scales: { x, y }, axes: [across, up], series: [{}, ...series] }, data };
    },
    [version],
  );
  const last = plot.curves.map(({ label, points }) => `${label} ${shortNumber(points.at(-1)?.[1])}`).join(", ");
  return (
    <figure>
      <figcaption>
        <strong>{plot.name}</strong> <span class="quiet">by {plot.axis}; last: {last}</span>
      </figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  );
}
