import { useMemo } from "preact/hooks";
import { size } from "../../format";
import { plain } from "./ansi";
import type { Block, Lines } from "./lines";
import type { Tail } from "./tail";

/** What a search finds in the lines that are read; a block is searched once. */
export function useMatches(lines: Lines, search: string) {
  const words = search.toLowerCase();
  const cache = useMemo(() => new Map<number, { count: number; lines: string[] }>(), [lines, words]);
  const has = (line: string) => words === "" || plain(line).toLowerCase().includes(words);
  const linesOf = (block: Block): readonly string[] => {
    if (words === "") return block.lines;
    const before = cache.get(block.id);
    if (before?.count === block.lines.length) return before.lines;
    const matching = block.lines.filter(has);
    cache.set(block.id, { count: block.lines.length, lines: matching });
    return matching;
  };
  const last = words !== "" && lines.last && has(lines.last) ? 1 : 0;
  const count = words === "" ? 0 : lines.blocks.reduce((sum, block) => sum + linesOf(block).length, last);
  return { has, linesOf, count };
}

interface PartProps {
  tail: Tail;
  /** Lines that a search found; undefined where none is made. */
  count: number | undefined;
  onEarlier: () => void;
  onLatest: () => void;
}

/** Shows which part of the log is loaded, what a search found in it, and how to load the rest. */
export function Part({ tail, count, onEarlier, onLatest }: PartProps) {
  const { lines } = tail;
  const isWhole = lines.start === 0 && !lines.isCut;
  const what = lines.isCut ? `${size(lines.end - lines.start)} before its end` : `the last ${size(lines.end - lines.start)}`;
  const part = isWhole ? "the log" : `${what} of ${size(tail.size)}`;
  return (
    <div class="actions part">
      <span role="status">{count !== undefined && `${count.toLocaleString()} ${count === 1 ? "line" : "lines"} of ${part}`}</span>
      {count === undefined && !isWhole && <span class="quiet">Here is {part}.</span>}
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
