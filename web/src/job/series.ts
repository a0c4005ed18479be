/** The curves of a job's numbers, put together from the answers of the API. */

interface Series {
  name: string;
  file: string;
  rank?: number;
  axis: string;
  points: [number, number][];
}

export interface MetricsAnswer {
  series: Series[];
  next: string;
  more: boolean;
  restarted: boolean;
  note?: string;
}

export const SERIES = { series: [{ name: "text", file: "text", points: ["list"] }] } as const;

export interface Plot {
  name: string;
  axis: string;
  curves: { label: string; points: [number, number][] }[];
}

export class Plots {
  next: string | undefined;
  note: string | undefined;
  /** Greater after each change. */
  version = 0;
  private plots = new Map<string, Plot>();

  get all(): Plot[] {
    return [...this.plots.values()];
  }

  add(answer: MetricsAnswer): void {
    this.next = answer.next;
    this.note = answer.note;
    if (answer.restarted) this.plots.clear();
    for (const { name, file, rank, axis, points } of answer.series) {
      const plot = this.plots.get(name) ?? { name, axis, curves: [] };
      this.plots.set(name, plot);
      const label = rank === undefined ? file : `${file} rank ${rank}`;
      const curve = plot.curves.find((one) => one.label === label);
      if (curve) curve.points.push(...points);
      else plot.curves.push({ label, points });
    }
    if (answer.restarted || answer.series.length > 0) this.version += 1;
  }
}

/** What can be drawn: a number beyond has no place on an axis, and a time beyond is no date. */
const [FARTHEST, LATEST] = [1e300, 8.64e12];

/** All curves over the same first numbers, as the plot wants them; null where a curve has none. */
export function aligned({ axis, curves }: Plot): [number[], ...(number | null)[][]] {
  const farthest = axis === "time" ? LATEST : FARTHEST;
  const drawn = curves.map(({ points }) => points.filter(([x, y]) => Math.abs(x) < farthest && Math.abs(y) < FARTHEST));
  const places = [...new Set(drawn.flatMap((points) => points.map(([x]) => x)))].toSorted((a, b) => a - b);
  const values = drawn.map((points) => new Map(points));
  return [places, ...values.map((known) => places.map((x) => known.get(x) ?? null))];
}

type Range = [number, number];

/** Of the numbers near one another that the plot could not tell apart, so much that it can: a part of them, or `least`. */
export function spread(first: number | null, last: number | null, least: number): Range {
  if (first === null || last === null) return [0, 1];
  const room = Math.max(Math.abs(first), Math.abs(last)) * 1e-9;
  return last - first > room ? [first, last] : [first - Math.max(room, least), last + Math.max(room, least)];
}

/** The same with some room around it. */
export function padded(lowest: number | null, highest: number | null): Range {
  const [low, high] = spread(lowest, highest, Math.abs(highest ?? 0) / 10 || 1);
  const room = (high - low) / 20;
  return [low - room, high + room];
}
