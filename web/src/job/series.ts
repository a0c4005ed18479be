/** The curves of a job's numbers, put together from the answers of the API. */
import type { Metrics } from "../answers";

export const SERIES = { series: [{ name: "text", file: "text", points: ["list"] }] } as const;

export interface Curve {
  label: string;
  points: [number, number][];
}

export interface Plot {
  /** Of all plots. */
  key: string;
  title: string;
  axis: string;
  /** Shares of what a node has, from 0 to 100. */
  isShare: boolean;
  /** The files that the numbers come from. */
  files: string[];
  curves: Curve[];
}

/** What one name of the answers is drawn as. */
interface Source {
  name: string;
  /** The plot, for which the names of its curves may differ. */
  base: string;
  isUsage: boolean;
  files: Set<string>;
  curves: (Curve & { file: string; rank: number | undefined })[];
}

/** Whether a file has what the nodes report about themselves. */
export function isUsage(file: string): boolean {
  return file.endsWith("/usage.jsonl");
}

/** What nodes report, in the order of what one looks for first; memory in GiB. */
const USES = ["GPU use, %", "GPU memory, GiB", "processor use, %", "memory, GiB"] as const;
const KINDS: readonly (readonly [RegExp, number])[] = [[/^gpu\d+_percent$/, 0], [/^gpu\d+_memory_mib$/, 1], [/^cpu_percent$/, 2], [/^memory_mib$/, 3]];
/** Words for the part of the data that a number is of: such numbers share a plot, and so a scale. */
const SPLITS = "train|training|val|valid|validation|eval|test";
const BEFORE = new RegExp(`^(?:${SPLITS})[_/. -](.+)$`, "i");
const AFTER = new RegExp(`^(.+)[_/. -](?:${SPLITS})$`, "i");

function baseOf(name: string, file: string): string {
  if (isUsage(file)) {
    const kind = KINDS.find(([pattern]) => pattern.test(name));
    return kind === undefined ? name : USES[kind[1]]!;
  }
  return BEFORE.exec(name)?.[1] ?? AFTER.exec(name)?.[1] ?? name;
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
  private sources = new Map<string, Source & { axis: string }>();

  /** The plots: numbers of the job first, then what its nodes report. */
  get all(): Plot[] {
    const groups = new Map<string, (Source & { axis: string })[]>();
    for (const source of this.sources.values()) {
      const key = JSON.stringify([source.isUsage, source.base, source.axis]);
      groups.set(key, [...(groups.get(key) ?? []), source]);
    }
    return [...groups].map(([key, sources]) => plotOf(key, sources)).toSorted((one, other) => orderOf(one) - orderOf(other));
  }

  /** What is not drawn. */
  get note(): string {
    const own = [this.curves === MOST_CURVES && `Only ${MOST_CURVES} curves are drawn.`, this.isThin && "Some points of long curves are left out."];
    return [this.remark, ...own].filter(Boolean).join(" ");
  }

  /** When each node reported first and last, by its number. */
  get nodes(): Map<number, [number, number]> {
    const times = new Map<number, [number, number]>();
    for (const { isUsage: is, axis, curves } of this.sources.values()) {
      if (!is || axis !== "time") continue;
      for (const { rank = 0, points } of curves) {
        const [first, last] = [points[0]?.[0], points.at(-1)?.[0]];
        if (first === undefined || last === undefined) continue;
        const [from, to] = times.get(rank) ?? [first, last];
        times.set(rank, [Math.min(from, first), Math.max(to, last)]);
      }
    }
    return times;
  }

  add(answer: Metrics): void {
    this.next = answer.next;
    this.remark = answer.note ?? "";
    if (answer.restarted) this.forget();
    for (const { name, file, rank, axis, points } of answer.series) {
      const base = baseOf(name, file);
      const key = JSON.stringify([name, axis, isUsage(file)]);
      const source = this.sources.get(key) ?? { name, base, axis, isUsage: isUsage(file), files: new Set<string>(), curves: [] };
      const curve = source.curves.find((one) => one.file === file && one.rank === rank);
      if (curve === undefined && this.curves === MOST_CURVES) continue;
      this.sources.set(key, source);
      source.files.add(file);
      this.points += points.length;
      const scaled: [number, number][] = source.isUsage && base.endsWith("GiB") ? points.map(([x, y]) => [x, y / 1024]) : points;
      if (curve) for (const point of scaled) curve.points.push(point);
      else {
        source.curves.push({ label: "", file, rank, points: [...scaled] });
        this.curves += 1;
      }
    }
    while (this.points > MOST_POINTS) this.thin();
    if (answer.restarted || answer.series.length > 0) this.version += 1;
  }

  private forget(): void {
    this.sources.clear();
    [this.curves, this.points, this.isThin] = [0, 0, false];
  }

  /** Of each curve every second point, and the last. */
  private thin(): void {
    this.isThin = true;
    this.points = 0;
    for (const curve of [...this.sources.values()].flatMap(({ curves }) => curves)) {
      curve.points = curve.points.filter((_, index, all) => index % 2 === 0 || index === all.length - 1);
      this.points += curve.points.length;
    }
  }
}

/** One plot of these; the names of its curves say what tells them apart. */
function plotOf(key: string, sources: readonly (Source & { axis: string })[]): Plot {
  const [first] = sources;
  const { isUsage: is = false, base = "", axis = "" } = first ?? {};
  const isOne = sources.length === 1;
  const curves = sources.flatMap(({ name, curves: own, files }) =>
    own.map(({ file, rank, points }) => {
      const node = is ? `node ${rank ?? 0}` : rank === undefined ? "" : `rank ${rank}`;
      const device = /^gpu(\d+)_/.exec(name)?.[1];
      const what = is ? (device === undefined ? "" : `GPU ${device}`) : isOne ? "" : name;
      return { label: [what, node, files.size > 1 && !is ? file : ""].filter(Boolean).join(" "), points };
    }),
  );
  const title = is ? base : isOne ? (first?.name ?? "") : base;
  return { key, title, axis, files: [...new Set(sources.flatMap(({ files }) => [...files]))], isShare: is && (base.endsWith("%") || base.endsWith("_percent")), curves };
}

function orderOf({ title, key }: Plot): number {
  return key.startsWith("[true") ? 1 + USES.findIndex((one) => one === title) : -1;
}

/** Texts for the ticks of an axis, no two of them alike: as many digits as tell them apart. */
export function tickTexts(ticks: readonly number[]): string[] {
  const [least = 0, second = least] = ticks;
  const step = Math.abs(second - least) || 1;
  const largest = Math.max(...ticks.map(Math.abs), 0);
  const isFar = largest >= 1e15 || step < 1e-9;
  for (let digits = 0; digits < 16; digits += 1) {
    const format = new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const texts = ticks.map((tick) => (isFar ? tick.toExponential(digits) : format.format(tick)));
    const isExact = ticks.every((tick, index) => Math.abs(Number(texts[index]!.replaceAll(",", "")) - tick) < step / 100);
    if (isExact && new Set(texts).size === ticks.length) return texts;
  }
  return ticks.map(String);
}

/** The limits of what can be drawn: an axis cannot show a greater number, and a greater time is not a date. */
export const [FARTHEST, LATEST] = [1e300, 8.64e12];

/** All curves over the same x values, as the plot requires; null where a curve has no value. */
export function aligned({ axis, curves }: Pick<Plot, "axis" | "curves">): [number[], ...(number | null)[][]] {
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
