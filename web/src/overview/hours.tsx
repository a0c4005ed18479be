import { shortDay } from "../days";
import { many } from "../format";
import { link } from "../route";
import { Panel } from "./panel";
import { type Facts, WRONG } from "./facts";

/** Of the drawing, in its own units. */
const [WIDTH, HEIGHT, HOUR] = [340, 92, 3_600_000];

/** How many jobs ended in each hour, and how many of them failed. */
export function Hours({ answer: { ends, since }, among }: Facts) {
  const { succeeded, failed, hours } = ends;
  const sums = succeeded.map((good, index) => good + (failed[index] ?? 0));
  const most = Math.max(1, ...sums);
  const [good, bad] = [succeeded, failed].map((counts) => counts.reduce((sum, count) => sum + count, 0));
  const start = Date.parse(since);
  const slot = WIDTH / Math.max(1, sums.length);
  const tall = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * (HEIGHT - 8)));
  const times = ticks(start, sums.length * hours);
  if (good === 0 && bad === 0) return null;
  const words = `${many(good ?? 0, "job")} succeeded and ${(bad ?? 0).toLocaleString("en")} failed`;
  return (
    <Panel
      id="hours"
      title={`Last ${sums.length * hours} hours`}
      more={
        <span class="legend">
          <span>
            <Key of="good" />
            {(good ?? 0).toLocaleString("en")} succeeded
          </span>
          <a class="name" href={link(["jobs"], { state: WRONG.join(), order: "ended", since, ...among })}>
            <Key of="fail" />
            {(bad ?? 0).toLocaleString("en")} failed
          </a>
        </span>
      }
    >
      <div class="fill">
        <svg class="hours" viewBox={`0 -12 ${WIDTH} ${HEIGHT + 32}`} role="img" aria-label={`Jobs that ended, by the hour: ${words}; at most ${most} in one`}>
          {[0, 0.5, 1].map((share) => (
            <line key={share} class="grid" x1="0" x2={WIDTH} y1={8 + share * (HEIGHT - 8)} y2={8 + share * (HEIGHT - 8)} />
          ))}
          {sums.map((_, index) => {
            const [up, down] = [tall(succeeded[index] ?? 0), tall(failed[index] ?? 0)];
            const gap = up > 0 && down > 0 ? 1.5 : 0;
            return (
              <g key={index}>
                <rect class="f-good" x={index * slot + 1.5} y={HEIGHT - up} width={slot - 3} height={up} rx="1.5" />
                <rect class="f-fail" x={index * slot + 1.5} y={Math.max(0, HEIGHT - up - gap - down)} width={slot - 3} height={down} rx="1.5" />
              </g>
            );
          })}
          <text x="0" y="2">
            {many(most, "job")} in {hours === 1 ? "an hour" : `${hours} hours`} at most
          </text>
          {times.map(([x, time]) => (
            <text key={x} x={x} y={HEIGHT + 15} text-anchor="middle">
              {time}
            </text>
          ))}
          <text x={WIDTH} y={HEIGHT + 15} text-anchor="end">
            now
          </text>
        </svg>
      </div>
    </Panel>
  );
}

/** Units beside which a label of time has no room: at the begin, and before "now". */
const [BEGIN, END] = [24, 44];
const WHOLE = new Intl.DateTimeFormat(undefined, { hour: "numeric" });

/** Whole quarters of a day, or days where the time is longer, and where they are. */
function ticks(start: number, hours: number): (readonly [x: number, label: string])[] {
  const first = new Date(start);
  const step = hours > 48 ? 24 * Math.ceil(hours / 24 / 4) : 6;
  const begin = new Date(first.getFullYear(), first.getMonth(), first.getDate());
  const places: (readonly [number, string])[] = [];
  for (let at = begin; at.getTime() < start + hours * HOUR; at = new Date(at.getFullYear(), at.getMonth(), at.getDate(), at.getHours() + step)) {
    const x = ((at.getTime() - start) / (hours * HOUR)) * WIDTH;
    if (x >= BEGIN && x <= WIDTH - END) places.push([x, step === 6 ? WHOLE.format(at) : shortDay(at)]);
  }
  return places;
}

function Key({ of }: { of: string }) {
  return (
    <svg width="9" height="9" aria-hidden="true">
      <rect class={`f-${of}`} width="9" height="9" rx="2" />
    </svg>
  );
}
