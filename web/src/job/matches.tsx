import { useMemo } from "preact/hooks";
import { size } from "../format";
import { plain } from "./ansi";
import type { Block, Lines } from "./lines";
import type { Tail } from "./tail";

/** What a search finds in the lines that are read; a block is searched once. */
export function useMatches(lines: Lines, search: string) {
  const wanted = search.toLowerCase();
  const known = useMemo(() => new Map<number, { count: number; lines: string[] }>(), [lines, wanted]);
  const has = (line: string) => wanted === "" || plain(line).toLowerCase().includes(wanted);
  const of = (block: Block): readonly string[] => {
    if (wanted === "") return block.lines;
    const before = known.get(block.id);
    if (before?.count === block.lines.length) return before.lines;
    const found = block.lines.filter(has);
    known.set(block.id, { count: block.lines.length, lines: found });
    return found;
  };
  const last = wanted !== "" && lines.last && has(lines.last) ? 1 : 0;
  const found = wanted === "" ? 0 : lines.blocks.reduce((sum, block) => sum + of(block).length, last);
  return { has, of, found };
}

interface PartProps {
  tail: Tail;
  /** Lines that a search found; undefined where none is made. */
  found: number | undefined;
  onEarlier: () => void;
  onLatest: () => void;
}

/** Which part of the log is here, what a search found in it, and the ways to the rest. */
export function Part({ tail, found, onEarlier, onLatest }: PartProps) {
  const { lines } = tail;
  const isWhole = lines.start === 0 && !lines.isCut;
  const what = lines.isCut ? `${size(lines.end - lines.start)} before its end` : `the last ${size(lines.end - lines.start)}`;
  const part = isWhole ? "the log" : `${what} of ${size(tail.size)}`;
  return (
    <div class="actions part">
      <span role="status">{found !== undefined && `${found.toLocaleString()} ${found === 1 ? "line" : "lines"} of ${part}`}</span>
      {found === undefined && !isWhole && <span class="quiet">Here is {part}.</span>}
      {lines.start > 0 && (
        <button type="button" onClick={onEarlier}>
          Earlier lines
        </button>
      )}
      {lines.isCut && (
        <button type="button" onClick={onLatest}>
          Last lines
        </button>
      )}
    </div>
  );
}
