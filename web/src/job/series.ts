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

/** All curves over the same first numbers, as the plot wants them; null where a curve has none. */
export function aligned({ curves }: Plot): [number[], ...(number | null)[][]] {
  const places = [...new Set(curves.flatMap(({ points }) => points.map(([x]) => x)))].toSorted((a, b) => a - b);
  const values = curves.map(({ points }) => new Map(points));
  return [places, ...values.map((known) => places.map((x) => known.get(x) ?? null))];
}
