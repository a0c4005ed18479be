import { useEffect, useRef, useState } from "preact/hooks";
import { ENDS, type JobDetail } from "../answers";
import { deploymentTime } from "../clock";
import { meaningOf } from "../parts/icon";
import { useNow } from "../parts/parts";
import { type Bar, type Lane, lanesOf } from "./phases";

/** Pixels: what is before the bars, the least width of all, a lane, a node's bar, and what is between lanes. */
const [LEFT, LEAST, HIGH, THIN, GAP] = [76, 560, 28, 20, 8];
/** Pixels of a letter in a bar, and between two labels of time. */
const [LETTER, BETWEEN] = [6.7, 150];
const [TOP, EVENTS] = [26, 24];
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const DAY = 86_400_000;

interface Props {
  job: JobDetail;
  nodes: ReadonlyMap<number, readonly [number, number]>;
}

/** What happened, in time: the phases of each attempt on one axis, and the events below them. */
export function Life({ job, nodes }: Props) {
  const now = useNow(deploymentTime);
  const box = useRef<HTMLDivElement>(null);
  const width = Math.max(LEAST, useWidth(box));
  const lanes = lanesOf(job, ENDS.has(job.state) ? 0 : now, nodes);
  const bars = lanes.flatMap((lane) => lane.bars);
  const events = (job.history ?? []).map(({ at, state }) => ({ at: Date.parse(at), state })).filter(({ at }) => !Number.isNaN(at));
  if (bars.length === 0) return null;
  const first = Math.min(...bars.map(({ from }) => from));
  const last = Math.max(...bars.map(({ to }) => to), first + 1000);
  const place = (at: number) => LEFT + ((Math.min(Math.max(at, first), last) - first) / (last - first)) * (width - LEFT - 1);
  const tops = topsOf(lanes);
  const bottom = tops.at(-1)! + EVENTS;
  return (
    <section class="panel" aria-labelledby="life">
      <header>
        <h2 id="life">What happened</h2>
        <span class="legend more" aria-hidden="true">
          <span><i class="dot f-wait" /> waited</span>
          <span><i class="dot f-gone" /> queued</span>
          <span><i class="dot f-run" /> ran</span>
          <span><i class="dot f-fail" /> failed</span>
        </span>
      </header>
      <div class="life" ref={box} tabIndex={0} role="group" aria-label="What happened, in time">
        <svg width={width} height={bottom + 10} viewBox={`0 0 ${width} ${bottom + 10}`} role="img" aria-label={lanes.map(({ sentence }) => sentence).join(" ")}>
          <Axis first={first} last={last} width={width} bottom={bottom} place={place} />
          {lanes.map((lane, index) => (
            <OneLane key={lane.label} lane={lane} y={tops[index]!} width={width} place={place} />
          ))}
          <text class="lane-name" x={0} y={bottom - 4}>Events</text>
          {events.map(({ at, state }, index) => (
            <circle key={index} class={`f-${meaningOf(state)}`} cx={Math.min(Math.max(place(at), LEFT + 5), width - 6)} cy={bottom - 8} r={4.5} />
          ))}
        </svg>
      </div>
    </section>
  );
}

/** Where each lane begins, and where the last one ends. */
function topsOf(lanes: readonly Lane[]): number[] {
  const tops = [TOP];
  for (const lane of lanes) tops.push(tops.at(-1)! + heightOf(lane) + GAP);
  return tops;
}

function heightOf({ nodes }: Lane): number {
  return nodes.length > 0 ? nodes.length * (THIN + 1) : HIGH;
}

interface Placed {
  place: (at: number) => number;
}

function Axis({ first, last, width, bottom, place }: Placed & { first: number; last: number; width: number; bottom: number }) {
  const count = Math.max(2, Math.min(5, Math.floor((width - LEFT) / BETWEEN)));
  const format = last - first > DAY ? DATE : CLOCK;
  return (
    <>
      {Array.from({ length: count }, (_, index) => {
        const at = first + ((last - first) * index) / (count - 1);
        return (
          <g key={index}>
            <line class="tick" x1={place(at)} x2={place(at)} y1={18} y2={bottom} />
            <text class="time" x={place(at)} y={11} text-anchor={index === 0 ? "start" : index === count - 1 ? "end" : "middle"}>
              {format.format(at)}
            </text>
          </g>
        );
      })}
    </>
  );
}

function OneLane({ lane, y, width, place }: Placed & { lane: Lane; y: number; width: number }) {
  const height = heightOf(lane);
  const phases = lane.nodes.length > 0 ? lane.bars.slice(0, -1) : lane.bars;
  return (
    <>
      <text class="lane-name" x={0} y={y + height / 2 + 4}>{lane.label}</text>
      <rect class="lane" x={LEFT} y={y} width={width - LEFT} height={height} rx={5} />
      {phases.map((bar, index) => (
        <OneBar key={index} bar={bar} y={y} height={height} place={place} />
      ))}
      {lane.nodes.map((bar, index) => (
        <OneBar key={`node ${index}`} bar={bar} y={y + index * (THIN + 1)} height={THIN} place={place} />
      ))}
    </>
  );
}

function OneBar({ bar, y, height, place }: Placed & { bar: Bar; y: number; height: number }) {
  const x = place(bar.from);
  const width = Math.max(2, place(bar.to) - x - 2);
  const letters = Math.floor((width - 14) / LETTER);
  const text = letters >= bar.text.length ? bar.text : letters >= Math.max(24, bar.short.length) ? `${bar.text.slice(0, letters - 1)}…` : letters >= bar.short.length ? bar.short : "";
  return (
    <g>
      <title>{bar.text}</title>
      <rect class={`f-${bar.kind}`} x={x} y={y} width={width} height={height} rx={4} />
      {text && (
        <text class={bar.kind === "run" || bar.kind === "fail" ? "in" : "in dark"} x={x + 8} y={y + height / 2 + 4}>
          {text}
        </text>
      )}
    </g>
  );
}

/** The width of a box in pixels. */
function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const place = box.current;
    if (place === null) return undefined;
    const { paddingLeft, paddingRight } = getComputedStyle(place);
    const measure = () => setWidth(Math.floor(place.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight)));
    const sizes = new ResizeObserver(measure);
    sizes.observe(place);
    measure();
    return () => sizes.disconnect();
  });
  return width;
}
