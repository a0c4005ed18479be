/** The curves of a job's numbers, put together from the answers of the API. */
import type { Metrics } from "../answers";

export const SERIES = { series: [{ name: "text", file: "text", points: ["list"] }] } as const;

export interface Plot {
  name: string;
  axis: string;
  /** Shares of what a node has, from 0 to 100. */
  isShare: boolean;
  curves: { label: string; points: [number, number][] }[];
}

/** Whether a file has what the nodes report about themselves. */
export function isUsage(file: string): boolean {
  return file.endsWith("/usage.jsonl");
}

/** Curves, and points of all of them: a job may report names and numbers without an end. */
const [MOST_CURVES, MOST_POINTS] = [400, 200_000];

export class Plots {
  next: string | undefined;
  /** What the API says of what it left out. */
  private remark = "";
  private curves = 0;
  private points = 0;
  private isThin = false;
  /** Greater after each change. */
  version = 0;
  private plots = new Map<string, Plot>();

  get all(): Plot[] {
    return [...this.plots.values()];
  }

  /** What is not drawn. */
  get note(): string {
    const own = [this.curves === MOST_CURVES && `Only ${MOST_CURVES} curves are drawn.`, this.isThin && "Some points of long curves are left out."];
    return [this.remark, ...own].filter(Boolean).join(" ");
  }

  add(answer: Metrics): void {
    this.next = answer.next;
    this.remark = answer.note ?? "";
    if (answer.restarted) this.forget();
    for (const { name, file, rank, axis, points } of answer.series) {
      const plot = this.plots.get(name) ?? { name, axis, isShare: false, curves: [] };
      const label = rank === undefined ? file : `${file} rank ${rank}`;
      const curve = plot.curves.find((one) => one.label === label);
      if (curve === undefined && this.curves === MOST_CURVES) continue;
      this.plots.set(name, plot);
      plot.isShare ||= isUsage(file) && name.endsWith("_percent");
      this.points += points.length;
      if (curve) curve.points.push(...points);
      else {
        plot.curves.push({ label, points });
        this.curves += 1;
      }
    }
    while (this.points > MOST_POINTS) this.thin();
    if (answer.restarted || answer.series.length > 0) this.version += 1;
  }

  private forget(): void {
    this.plots.clear();
    [this.curves, this.points, this.isThin] = [0, 0, false];
  }

  /** Of each curve every second point, and the last. */
  private thin(): void {
    this.isThin = true;
    this.points = 0;
    for (const curve of this.all.flatMap(({ curves }) => curves)) {
      curve.points = curve.points.filter((_, index, all) => index % 2 === 0 || index === all.length - 1);
      this.points += curve.points.length;
    }
  }
}

/** The limits of what can be drawn: an axis cannot show a greater number, and a greater time is not a date. */
export const [FARTHEST, LATEST] = [1e300, 8.64e12];

/** All curves over the same x values, as the plot requires; null where a curve has no value. */
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
