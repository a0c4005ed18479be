/** Times, durations and sizes as people read them. */

const CLOCK = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** A time in the zone of the reader. */
export function localTime(text: string): string {
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? text : CLOCK.format(time);
}

/** `1 h 05 min`, `2 min 03 s`, `4 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const [days, hours, minutes] = [seconds / 86_400, (seconds / 3600) % 24, (seconds / 60) % 60].map(Math.floor);
  const two = (number: number) => String(number).padStart(2, "0");
  if (days) return `${days} d ${two(hours!)} h`;
  if (hours) return `${hours} h ${two(minutes!)} min`;
  if (minutes) return `${minutes} min ${two(seconds % 60)} s`;
  return `${seconds} s`;
}

/** About how long, in words that change once a minute: `under a minute`, `34 min`, `1 h 10 min`, `2 d 3 h`. */
export function roughly(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "under a minute";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return hours % 24 ? `${Math.floor(hours / 24)} d ${hours % 24} h` : `${Math.floor(hours / 24)} d`;
}

/** `1 job`, `1,204 jobs`. */
export function many(number: number, one: string, more = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : more}`;
}

/** From one time to another, or until now. */
export function elapsed(start: string | undefined, end: string | undefined, now: number): string {
  if (start === undefined) return "";
  return duration((end === undefined ? now : Date.parse(end)) - Date.parse(start));
}

export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let number = bytes;
  let unit = 0;
  while (number >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit += 1;
  }
  return `${unit && number < 10 ? number.toFixed(1) : Math.round(number)} ${units[unit]}`;
}

/** They turn the direction of text, or cannot be seen: a name reads as what it is not. */
// oxlint-disable-next-line no-control-regex
const DECEIVING = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The same text with these characters as their codes. */
export function withCodes(text: string): string {
  return text.replace(DECEIVING, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A name with its misleading characters as codes; a name of spaces alone is in quotes, so that it is visible. */
export function visibleName(name: string): string {
  return name.trim() === "" ? JSON.stringify(name) : withCodes(name);
}

/** A number with four significant digits. */
export function shortNumber(value: number | undefined): string {
  return value === undefined ? "" : String(Number(value.toPrecision(4)));
}

/** Hours or money: four significant digits, and thousands apart. */
export function amountText(value: number): string {
  return value > 0 && value < 0.01 ? "under 0.01" : value.toLocaleString("en", { maximumSignificantDigits: 4 });
}

/** A long run of base64, such as the files of a folder, is shown as one note. */
export const PACKED = /[A-Za-z0-9+/=]{200,}/g;

export function packedNote(count: number): string {
  return `… ${count.toLocaleString("en")} characters of packed files …`;
}
