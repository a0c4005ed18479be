/** Lines of a log as runs of text with a colour. All other control sequences are left out. */
import Anser from "anser";

export interface Run {
  text: string;
  /** Names of classes in log.css; "" for plain text. */
  style: string;
  /** Colours beyond the sixteen, as `r, g, b`. */
  ink?: string;
  ground?: string;
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
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
/** Kinds of text; those that hide it, or move, are left out. */
const KINDS = new Set(["bold", "dim", "italic", "underline", "strikethrough"]);
const LEVELS = [0, 95, 135, 175, 215, 255];

/** The runs of each of these lines. */
export function coloured(lines: readonly string[]): Run[][] {
  let count = 0;
  return lines.map((line) => {
    const pieces = count < MOST_RUNS_TOGETHER && line.includes("\x1b[") ? runs(line) : [{ text: plain(line), style: "" }];
    count += pieces.length;
    return pieces;
  });
}

function runs(line: string): Run[] {
  const colours = line.replace(SEQUENCE, (_, codes?: string) => (codes === undefined ? "" : `\x1b[${codes.replace(/([34]8:2):\d*:/g, "$1:").replaceAll(":", ";")}m`));
  const entries = Anser.ansiToJson(colours, { json: true, use_classes: true, remove_empty: true });
  const drawn = entries.slice(0, MOST_RUNS).map(({ content, decorations, ...entry }) => {
    const [text, ground] = [side(entry.fg, entry.fg_truecolor, "ink"), side(entry.bg, entry.bg_truecolor, "ground")];
    const style = [...decorations.filter((kind) => KINDS.has(kind)), text.style, ground.style].filter(Boolean).join(" ");
    return { text: content, style, ...(text.colour && { ink: text.colour }), ...(ground.colour && { ground: ground.colour }) };
  });
  const rest = entries.slice(MOST_RUNS).map(({ content }) => content).join("");
  return rest === "" ? drawn : [...drawn, { text: rest, style: drawn.at(-1)?.style ?? "" }];
}

/** A colour of the sixteen as a class, which follows the theme; another one as it is. */
function side(name: string | null, exact: string | null, what: "ink" | "ground"): { style: string; colour?: string } {
  if (!name) return { style: "" };
  const basic = NAMES.indexOf(name.replace(/^ansi-(bright-)?/, ""));
  if (basic >= 0) return { style: `${what}-${basic}` };
  const colour = name === "ansi-truecolor" ? exact : palette(Number(name.replace("ansi-palette-", "")));
  return colour ? { style: `exact-${what}`, colour } : { style: "" };
}

/** A colour of the 256 from the 17th on: a cube of six levels, and 24 greys. */
function palette(index: number): string {
  if (index >= 232) return Array(3).fill(8 + 10 * (index - 232)).join(", ");
  const place = index - 16;
  return [place / 36, (place / 6) % 6, place % 6].map((at) => LEVELS[Math.floor(at)] ?? 0).join(", ");
}
