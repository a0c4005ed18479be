import { shortNumber } from "../../format";
import { link } from "../../route";
import type { Value } from "./run";

export interface Point {
  id: string;
  name: string;
  x: Value;
  y: number;
}

const [WIDTH, HEIGHT] = [720, 360];
const EDGE = { left: 70, right: 20, top: 14, bottom: 44 };
const TICKS = 5;

/** A parameter against a metric: one point for each job, which leads to it. */
export function Scatter({ points, x, y }: { points: readonly Point[]; x: string; y: string }) {
  const across = axis(points.map((point) => point.x), EDGE.left, WIDTH - EDGE.right);
  const up = axis(points.map((point) => point.y), HEIGHT - EDGE.bottom, EDGE.top);
  return (
    <svg class="scatter" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label={`${y} by ${x}`}>
      {up.ticks.map(({ at, text }) => (
        <g key={text} aria-hidden="true">
          <line x1={EDGE.left} x2={WIDTH - EDGE.right} y1={at} y2={at} />
          <text x={EDGE.left - 8} y={at + 4} text-anchor="end">{text}</text>
        </g>
      ))}
      {across.ticks.map(({ at, text }) => (
        <text key={text} x={at} y={HEIGHT - EDGE.bottom + 20} text-anchor="middle" aria-hidden="true">{text}</text>
      ))}
      <text class="label" x={(EDGE.left + WIDTH - EDGE.right) / 2} y={HEIGHT - 6} text-anchor="middle" aria-hidden="true">{x}</text>
      <text class="label" x={EDGE.left} y={11} text-anchor="end" aria-hidden="true">{y}</text>
      {points.map((point) => (
        <a key={point.id} href={link(["jobs", point.id])} aria-label={`${point.name}: ${x} ${point.x}, ${y} ${shortNumber(point.y)}`}>
          <circle cx={across.place(point.x)} cy={up.place(point.y)} r={6}>
            <title>{`${point.name}\n${x} ${point.x}\n${y} ${shortNumber(point.y)}`}</title>
          </circle>
        </a>
      ))}
    </svg>
  );
}

interface Axis {
  place: (value: Value) => number;
  ticks: { at: number; text: string }[];
}

/** Numbers on a line, by their powers of ten where they span more than two of these; words side by side. */
function axis(values: readonly Value[], start: number, end: number): Axis {
  const numbers = values.filter((value) => typeof value === "number");
  if (numbers.length < values.length) return words([...new Set(values.map(String))].toSorted(), start, end);
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
  const isWide = least > 0 && most / least > 100;
  const scale = isWide ? Math.log10 : (value: number) => value;
  const [low, high] = padded(scale(least), scale(most));
  const place = (value: Value) => start + ((scale(Number(value)) - low) / (high - low)) * (end - start);
  const round = isWide ? powers(low, high) : steps(low, high);
  return { place, ticks: round.map((value) => ({ at: place(value), text: String(Number(value.toPrecision(4))) })) };
}

/** Round numbers between two. */
function steps(low: number, high: number): number[] {
  const power = 10 ** Math.floor(Math.log10((high - low) / TICKS));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= (high - low) / TICKS) ?? 10);
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  if (!(count < 4 * TICKS)) return []; // so near one another that no step lies between them
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}

/** The exponent of the least number with all its digits; about that of the greatest. */
const LEAST_POWER = -307;

/** Powers of ten between two exponents, at most as many as there is room for. */
function powers(low: number, high: number): number[] {
  const [first, last] = [Math.max(LEAST_POWER, Math.ceil(low)), Math.min(-LEAST_POWER, Math.floor(high))];
  const all = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index));
  const every = Math.ceil(all.length / (2 * TICKS));
  return all.filter((_, index) => index % every === 0);
}

function words(names: string[], start: number, end: number): Axis {
  const place = (value: Value) => start + ((names.indexOf(String(value)) + 0.5) / names.length) * (end - start);
  return { place, ticks: names.slice(0, 12).map((text) => ({ at: place(text), text: text.length > 14 ? `${text.slice(0, 13)}…` : text })) };
}

function padded(low: number, high: number): [number, number] {
  const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}
