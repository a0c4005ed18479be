import { clockTime } from "../days";
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
  const times = [0, 0.4, 0.7].map((share) => [share * WIDTH, clockTime(new Date(start + share * sums.length * hours * HOUR))] as const);
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
            <text key={x} x={x} y={HEIGHT + 15} text-anchor={x === 0 ? "start" : "middle"}>
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

function Key({ of }: { of: string }) {
  return (
    <svg width="9" height="9" aria-hidden="true">
      <rect class={`f-${of}`} width="9" height="9" rx="2" />
    </svg>
  );
}
