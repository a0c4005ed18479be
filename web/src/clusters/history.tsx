import uPlot from "uplot";
import type { NodeHistory } from "../answers";
import { deploymentTime } from "../clock";
import { clockTime } from "../days";
import { type Drawing, colourOf, useChart } from "../parts/chart";

const HEIGHT = 160;
/** Seconds of the past that are drawn at least: one count alone has no width. */
const LEAST = 60;
/** Seconds between labels: two never have the same minute. */
const BETWEEN = [60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600];
/** Seconds for which a point holds at most; a longer pause counts as a gap. */
const HOLDS = 600;
/** What is busy has the colour of what runs; what is free, that of what is good. */
const INKS = new Map(Object.entries({ idle: "--good-fill", running: "--run-fill", preparing: "--wait-fill", leaving: "--c4", unusable: "--fail-fill" }));

/** The nodes of one cluster over the last hours, stacked by their states. */
export function History({ name, history }: { name: string; history: NodeHistory }) {
  const shown = history.states.map((state, index) => ({ state, index })).filter(({ index }) => peak(history, index) > 0);
  const draw = (across: uPlot.Axis, up: uPlot.Axis): Drawing | undefined => {
    if (history.points.length === 0) return undefined;
    const stepped = uPlot.paths.stepped?.({ align: 1 });
    const now = deploymentTime() / 1000;
    return {
      options: {
        height: HEIGHT,
        axes: [{ ...across, size: 30, incrs: BETWEEN, values: (_, places) => places.map((at) => clockTime(new Date(1000 * at))) }, { ...up, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] }],
        scales: { x: { range: [Math.min(history.points[0]?.[0] ?? now, now - LEAST), now] }, y: { range: (_, __, most) => [0, Math.max(1, most)] } },
        // The highest first: each one covers what stands below it.
        series: [{}, ...shown.toReversed().map(({ state }) => ({ stroke: stroke(state), fill: stroke(state), width: 1, points: { show: false }, ...(stepped && { paths: stepped }) }))],
      },
      data: columns(
        history.points,
        shown.map(({ index }) => index),
      ),
    };
  };
  const box = useChart(draw, [history]);
  if (history.points.length === 0) return <p class="quiet">Its nodes have not been counted yet.</p>;
  return (
    <figure aria-label={`Nodes of ${name} over the last hours`}>
      <figcaption>
        <b>Nodes over the last hours</b>{" "}
        {shown.length === 0 && <span class="quiet">none</span>}
        {shown.map(({ state, index }) => (
          <span key={state} class="key">
            <svg width="12" height="12" aria-hidden="true">
              <rect class={`node-${INKS.has(state) ? state : "other"}`} width="12" height="12" rx="3" />
            </svg>{" "}
            {state} (at most {peak(history, index)})
          </span>
        ))}
      </figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  );
}

function stroke(state: string): string {
  return colourOf(INKS.get(state) ?? "--c5");
}

function peak(history: NodeHistory, state: number): number {
  return Math.max(0, ...history.points.map((point) => point[state + 1] ?? 0));
}

/** The input of the plot: the times, then the upper edge of each state, the highest first. A point holds until the next one, or for ten minutes. */
function columns(points: NodeHistory["points"], states: number[]): [number[], ...(number | null)[][]] {
  const now = deploymentTime() / 1000;
  const rows = points.flatMap((point, index) => {
    const next = points[index + 1]?.[0] ?? now;
    const end = timeOf(point) + HOLDS;
    const last: NodeHistory["points"] = index === points.length - 1 ? [[Math.min(now, end), ...point.slice(1)]] : [];
    // The timer comes a little later than the minute: half of one more is not a pause.
    return next > end + 30 ? [point, [end, ...states.map(() => null)]] : [point, ...last];
  });
  const heights = states.map((_, index) => rows.map((row) => sum(row, states.slice(0, index + 1))));
  return [rows.map(timeOf), ...heights.toReversed()];
}

/** The API gives seconds since 1970, and then the nodes in each state. */
function timeOf(point: NodeHistory["points"][number]): number {
  return point[0] ?? 0;
}

/** Nodes in one of these states; null in a gap. */
function sum(row: NodeHistory["points"][number], states: readonly number[]): number | null {
  const counts = states.map((state) => row[state + 1] ?? null);
  return counts.includes(null) ? null : counts.reduce<number>((all, count) => all + (count ?? 0), 0);
}
