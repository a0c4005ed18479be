/** Days and times as lists have them: a day as a heading, the time alone below it, and the exact moment in the tooltip. */

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const DAY_OF_A_YEAR = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const SHORT = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const [MINUTE, HOUR] = [60_000, 3_600_000];

/** A number for each day in the reader's zone; the greater is the later. */
export function dayOf(time: Date): number {
  return 372 * time.getFullYear() + 31 * time.getMonth() + time.getDate();
}

/** The midnight with which a day begins, so many days after that of `time`. */
export function midnight(time: Date, days = 0): Date {
  return new Date(time.getFullYear(), time.getMonth(), time.getDate() + days);
}

/** `Today`, `Yesterday`, `Tuesday, 24 November`; with its year where that is another one. */
export function dayTitle(time: Date, now: Date): string {
  const day = dayOf(time);
  if (day === dayOf(now)) return "Today";
  if (day === dayOf(midnight(now, -1))) return "Yesterday";
  return (time.getFullYear() === now.getFullYear() ? DAY : DAY_OF_A_YEAR).format(time);
}

/** `Tue 24 Nov`. */
export function shortDay(time: Date): string {
  return SHORT.format(time);
}

/** `09:01`. */
export function clockTime(time: Date): string {
  return CLOCK.format(time);
}

/** With its zone and its seconds. */
export function exactTime(time: Date): string {
  return EXACT.format(time);
}

/** `4 min ago` within a day, `yesterday, 18:22`, else the day; before noon of a day, what is less than it ago is of yesterday. */
export function ago(time: Date, now: Date): string {
  const passed = now.getTime() - time.getTime();
  if (passed < MINUTE) return passed > -MINUTE ? "just now" : `${shortDay(time)}, ${clockTime(time)}`;
  if (passed < HOUR) return `${Math.floor(passed / MINUTE)} min ago`;
  if (dayOf(time) === dayOf(now)) return `${Math.floor(passed / HOUR)} h ago`;
  if (dayOf(time) === dayOf(midnight(now, -1))) return `yesterday, ${clockTime(time)}`;
  return `${shortDay(time)}, ${clockTime(time)}`;
}

/** The time alone today, else with its day. */
export function comingTime(time: Date, now: Date): string {
  return dayOf(time) === dayOf(now) ? clockTime(time) : `${shortDay(time)}, ${clockTime(time)}`;
}
