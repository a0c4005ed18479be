import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { ENDS, type JobDetail } from "../answers";
import { json } from "../api";
import { shortNumber } from "../format";
import { Notice, Refusal } from "../parts/parts";
import { usePoll } from "../poll";
import { aligned, type MetricsAnswer, Plots, type Plot } from "./series";

/** With the poll of the job beside it, four requests a minute. */
const LATEST = 30_000;
const HEIGHT = 220;

/** The numbers that a job and its nodes report, one plot for each name, while it runs and after. */
export function Metrics({ job }: { job: JobDetail }) {
  const plots = useMemo(() => new Plots(), [job.id]);
  const ended = ENDS.has(job.state);
  const read = async (signal: AbortSignal) => {
    let more = true;
    while (more && !signal.aborted) {
      const answer = await json<MetricsAnswer>(`jobs/${encodeURIComponent(job.id)}/metrics`, {
        query: { after: plots.next, points: 1000 },
        signal,
      });
      plots.add(answer);
      more = answer.more;
    }
    return plots.version;
  };
  const polled = usePoll(`${job.id}\n${ended}`, read, { latest: LATEST, isFinal: () => ended });
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
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = box.current;
    if (place === null) return;
    const style = getComputedStyle(place);
    const ink = style.color;
    const axis = { stroke: ink, grid: { stroke: style.getPropertyValue("--faint") } };
    const chart = new uPlot(
      {
        width: place.clientWidth,
        height: HEIGHT,
        scales: { x: { time: plot.axis === "time" } },
        axes: [axis, axis],
        legend: { show: false },
        series: [{}, ...plot.curves.map((_, index) => ({ stroke: `hsl(${(index * 67 + 210) % 360} 70% 50%)`, spanGaps: true }))],
      },
      aligned(plot),
      place,
    );
    const sizes = new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: HEIGHT }));
    sizes.observe(place);
    return () => {
      sizes.disconnect();
      chart.destroy();
    };
  }, [version]);
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
