import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { MonthUsage, TeamShare, TeamsUsage, UsageShare } from "../answers";
import { Feed } from "../api";
import { exactTime, shortDay } from "../days";
import { shortNumber } from "../format";
import { Meter } from "../parts/meter";
import { Middle } from "../parts/middle";
import { Refusal } from "../parts/parts";
import { LATEST, usePoll } from "../poll";
import { link, type Route } from "../route";
import { shortWho } from "../who";
import { TeamRow } from "./team";
import "../parts/wide.css";
import "./usage.css";

const SHAPE = { currency: "text", month: "text", teams: [{ name: "text", months: {} }] } as const;
const WAYS = [
  ["", "By month"],
  ["owner", "By person"],
  ["experiment", "By experiment"],
] as const;
const MONTH = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" });

/** What teams used and what their jobs may still use, apart; then by month, by person and by experiment. */
export function Usage({ route }: { route: Route }) {
  const by = route.query["by"] === "owner" || route.query["by"] === "experiment" ? route.query["by"] : "";
  const feed = useMemo(() => new Feed<TeamsUsage>("usage", { by }, SHAPE), [by]);
  const { value, error, readAt } = usePoll(`usage ${by}`, (signal) => feed.read(signal), { latest: 2 * LATEST });
  return (
    <main class="page usage">
      <div class="title">
        <h1>Usage</h1>
        {value && <span class="count">{monthName(value.month)}, by the months of UTC</span>}
        {value && isLate(value) && <span class="fresh">what is counted by jobs is counted since {sinceText(value.countedSince)}</span>}
      </div>
      <Refusal error={error} readAt={readAt} />
      {value === undefined && !error && <p role="status">Loading…</p>}
      {value && (
        <section class="panel" aria-labelledby="teams">
          <header>
            <h2 id="teams">Teams</h2>
            <span class="legend more">
              <span>
                <Meter parts={[{ of: "run", amount: 1 }]} /> used
              </span>
              <span>
                <Meter parts={[{ of: "wait", amount: 1 }]} /> reserved: what active jobs may still use
              </span>
            </span>
          </header>
          {value.teams.length === 0 && <p class="soft empty">There are no teams. Below is the use of all jobs that you see.</p>}
          {value.teams.length > 0 && (
            <ul class="lines teams">
              {value.teams.toSorted((a, b) => hours(b) - hours(a)).map((team) => (
                <TeamRow key={team.name} team={team} currency={value.currency} />
              ))}
            </ul>
          )}
        </section>
      )}
      <section class="panel" aria-labelledby="ways">
        <header>
          <h2 id="ways">Where it went</h2>
          <nav class="seg more" aria-label="Ways to see the use">
            {WAYS.map(([word, label]) => (
              <a key={word} href={link(["usage"], { by: word })} aria-current={word === by ? "page" : undefined}>
                {label}
              </a>
            ))}
          </nav>
        </header>
        {value && by === "" && <Months teams={value.teams} currency={value.currency} />}
        {value?.shares && by !== "" && <Shares by={by} shares={value.shares} currency={value.currency} />}
      </section>
    </main>
  );
}

const hours = ({ use }: TeamShare) => use?.gpuHours ?? 0;

function monthName(month: string): string {
  const time = new Date(`${month}-01T00:00:00Z`);
  return Number.isNaN(time.getTime()) ? month : MONTH.format(time);
}

/** Whether less than the month is counted. */
function isLate({ month, countedSince }: TeamsUsage): boolean {
  return Date.parse(countedSince) > Date.parse(`${month}-01T00:00:00Z`);
}

function sinceText(at: string) {
  const time = new Date(at);
  return (
    <time dateTime={at} title={exactTime(time)}>
      {shortDay(time)}
    </time>
  );
}

/** One month of a team and the next: the last first. */
function Months({ teams, currency }: { teams: readonly TeamShare[]; currency: string }) {
  const rows = teams.flatMap(({ name, months }) => Object.entries(months).map(([month, used]) => ({ name, month, used })));
  if (rows.length === 0) return <p class="soft empty">No job of a team has ended yet.</p>;
  const most = Math.max(...rows.map(({ used }) => used.gpuHours || used.nodeHours));
  return (
    <Table caption="By the month in UTC in which jobs ended" heads={["Month", "Team", "Jobs", "Node-hours", "GPU-hours", "Cost", ""]}>
      {rows
        .toSorted((a, b) => b.month.localeCompare(a.month) || b.used.gpuHours - a.used.gpuHours)
        .map(({ name, month, used }) => (
          <tr key={`${month}\n${name}`}>
            <th scope="row">{monthName(month)}</th>
            <td class="name-cell">
              <Team name={name} />
            </td>
            <Amounts used={used} currency={currency} />
            <td class="bar-cell">
              <Meter parts={[{ of: "run", amount: used.gpuHours || used.nodeHours }]} whole={most} />
            </td>
          </tr>
        ))}
    </Table>
  );
}

/** This month by whom, or by what for. */
function Shares({ by, shares, currency }: { by: "owner" | "experiment"; shares: readonly UsageShare[]; currency: string }) {
  if (shares.length === 0) return <p class="soft empty">No job has used or reserved anything in this month.</p>;
  const total = (one: UsageShare) => one.gpuHours + one.reservedGpuHours || one.nodeHours;
  const most = Math.max(...shares.map(total));
  const heads = [by === "owner" ? "Who" : "Experiment", "Team", "Jobs that ended", "Node-hours", "GPU-hours used", "Cost", "GPU-hours reserved", "Cost reserved", ""];
  return (
    <Table caption={by === "owner" ? "This month by person" : "This month by experiment"} heads={heads}>
      {shares.map((one) => {
        const name = one[by];
        return (
          <tr key={`${one.team}\n${name}`}>
            <th scope="row" class="name-cell">
              {name === undefined ? (
                <span class="soft">{by === "owner" ? "a door, or a key without a name" : "none"}</span>
              ) : (
                <a href={link(["jobs"], { [by]: name })} title={name} aria-label={by === "owner" ? shortWho(name) : name}>
                  <Middle text={by === "owner" ? shortWho(name) : name} />
                </a>
              )}
            </th>
            <td class="name-cell">{one.team && <Team name={one.team} />}</td>
            <Amounts used={one} currency={currency} />
            <td class="num">{one.reservedGpuHours > 0 && shortNumber(one.reservedGpuHours)}</td>
            <td class="num">{one.reservedCost > 0 && `${shortNumber(one.reservedCost)} ${currency}`}</td>
            <td class="bar-cell">
              <Meter
                parts={[
                  { of: "run", amount: one.gpuHours || one.nodeHours },
                  { of: "wait", amount: one.reservedGpuHours },
                ]}
                whole={most}
              />
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

function Team({ name }: { name: string }) {
  return (
    <a href={link(["jobs"], { team: name })} title={name} aria-label={name}>
      <Middle text={name} />
    </a>
  );
}

function Amounts({ used, currency }: { used: MonthUsage; currency: string }) {
  return (
    <>
      <td class="num">{used.jobs.toLocaleString()}</td>
      <td class="num">{shortNumber(used.nodeHours)}</td>
      <td class="num">{shortNumber(used.gpuHours)}</td>
      <td class="num">
        {shortNumber(used.cost)} {currency}
      </td>
    </>
  );
}

function Table({ caption, heads, children }: { caption: string; heads: readonly string[]; children: ComponentChildren }) {
  return (
    <div class="wide" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {heads.map((head) => (head ? <th key={head} scope="col">{head}</th> : <td key="bar" />))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
