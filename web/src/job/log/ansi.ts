/** Lines of a log as runs of text with a colour. All other control sequences are left out. */

export interface Run {
  text: string;
  /** Names of classes in views.css; "" for plain text. */
  style: string;
}

/** Colours (SGR); other sequences of a terminal; control characters, and those that turn the direction of text. */
const SEQUENCE =
  // oxlint-disable-next-line no-control-regex
  /\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

export function plain(line: string): string {
  return line.replace(SEQUENCE, "");
}

/** Of one line; what follows has the last colour. */
const MOST_RUNS = 200;
/** Of lines that are drawn together; those after them are plain. */
const MOST_RUNS_TOGETHER = 4_000;

/** The runs of each of these lines. */
export function coloured(lines: readonly string[]): Run[][] {
  let count = 0;
  return lines.map((line) => {
    const pieces = count < MOST_RUNS_TOGETHER ? runs(line) : [{ text: plain(line), style: "" }];
    count += pieces.length;
    return pieces;
  });
}

function runs(line: string): Run[] {
  const result: Run[] = [];
  let style = "";
  let end = 0;
  for (const match of line.matchAll(SEQUENCE)) {
    if (result.length === MOST_RUNS) break;
    if (match.index > end) result.push({ text: line.slice(end, match.index), style });
    if (match[1] !== undefined) style = styleAfter(style, match[1]);
    end = match.index + match[0].length;
  }
  if (end < line.length) result.push({ text: plain(line.slice(end)), style });
  return result;
}

/** The classes after a sequence of numbers: 0 resets, 1 is bold, 30 to 37 and 90 to 97 are colours. */
function styleAfter(style: string, codes: string): string {
  const classes = new Set(style.split(" ").filter(Boolean));
  const forget = () => [...classes].filter((name) => name.startsWith("ink")).forEach((name) => classes.delete(name));
  const numbers = codes.split(/[;:]/).map(Number);
  for (let index = 0; index < numbers.length; index += 1) {
    const code = numbers[index] ?? 0;
    if (code === 0) classes.clear();
    else if (code === 1) classes.add("bold");
    else if (code === 22) classes.delete("bold");
    else if (code === 38 || code === 48) index += numbers[index + 1] === 5 ? 2 : 4; // of a palette, which is not shown
    else if (code === 39) forget();
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) {
      forget();
      classes.add(`ink-${code % 10}`);
    }
  }
  return [...classes].join(" ");
}
