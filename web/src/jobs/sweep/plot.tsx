import type uPlot from "uplot";
import { type Drawing, colourOf, useChart } from "../../parts/chart";
import { padded, spread } from "../../job/series";
import type { Curve } from "./curves";

const HEIGHT = 300;
const INKS = ["--c2", "--c3", "--c4", "--c5"];

/** Between labels of steps and epochs. */
const WHOLE = [1, 2, 5].flatMap((one) => Array.from({ length: 12 }, (_, power) => one * 10 ** power)).toSorted((a, b) => a - b);

export interface Drawn {
  id: string;
  name: string;
  curve: Curve;
}

/** The curves of all jobs over each other; that of the best is on top, and thicker. */
export function CurvesPlot({ metric, drawn, bestId, chosenId, version }: { metric: string; drawn: readonly Drawn[]; bestId: string; chosenId: string; version: number }) {
  const draw = (across: uPlot.Axis, up: uPlot.Axis): Drawing | undefined => {
    if (drawn.length === 0) return undefined;
    const rank = ({ id }: Drawn) => (id === chosenId ? 2 : id === bestId ? 1 : 0);
    const order = drawn.toSorted((a, b) => rank(a) - rank(b)); // the last is drawn on top
    const [xs, ...values] = columns(order.map(({ curve }) => curve));
    const series = order.map((one, index): uPlot.Series => {
      const isBest = rank(one) > 0;
      return { label: one.name, stroke: colourOf(isBest ? "--c1" : (INKS[index % INKS.length] ?? "--c2")), width: isBest ? 2.5 : 1, alpha: isBest || drawn.length === 1 ? 1 : 0.5, spanGaps: true, points: { show: one.curve.points.length === 1 } };
    });
    const scales = { x: { time: order[0]?.curve.axis === "time", range: spread(xs[0] ?? null, xs.at(-1) ?? null, 1) }, y: { range: (_: uPlot, least: number, most: number) => padded(least, most) } };
    return { options: { height: HEIGHT, scales, axes: [{ ...across, size: 30, ...(xs.every(Number.isInteger) && { incrs: WHOLE }) }, up], cursor: { show: false }, series: [{}, ...series] }, data: [xs, ...values] };
  };
  const box = useChart(draw, [version, metric, bestId, chosenId, drawn.length]);
  const best = drawn.find(({ id }) => id === bestId);
  return (
    <figure class="panel curves" aria-label={`${metric} of ${drawn.length} jobs`}>
      <figcaption>
        <strong>{metric}</strong> <span class="soft">by {drawn[0]?.curve.axis ?? "step"}, {drawn.length} jobs</span>
        {best && <span class="key">the best: {best.name}</span>}
      </figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  );
}

/** All curves over the same places; null where one has no value. */
function columns(curves: readonly Curve[]): [number[], ...(number | null)[][]] {
  const places = [...new Set(curves.flatMap(({ points }) => points.map(([x]) => x)))].toSorted((a, b) => a - b);
  return [
    places,
    ...curves.map(({ points }) => {
      const values = new Map(points.map(([x, y]) => [x, y]));
      return places.map((x) => values.get(x) ?? null);
    }),
  ];
}
