import { useMemo } from "preact/hooks";
import { size } from "../../format";
import { plain } from "./ansi";
import type { Block } from "./lines";
import type { Tails } from "./tail";

/** What a search finds in the lines that are read; a block is searched once. */
export function useMatches(tails: Tails, search: string) {
  const words = search.toLowerCase();
  const cache = useMemo(() => new Map<number, { count: number; lines: string[] }>(), [tails, words]);
  const has = (line: string) => words === "" || plain(line).toLowerCase().includes(words);
  const linesOf = (block: Block): readonly string[] => {
    if (words === "") return block.lines;
    const before = cache.get(block.id);
    if (before?.count === block.lines.length) return before.lines;
    const matching = block.lines.filter(has);
    cache.set(block.id, { count: block.lines.length, lines: matching });
    return matching;
  };
  const last = tails.all.filter(({ lines }) => words !== "" && lines.last && has(lines.last)).length;
  const count = words === "" ? 0 : tails.blocks.reduce((sum, { block }) => sum + linesOf(block).length, last);
  return { has, linesOf, count };
}

interface PartProps {
  tails: Tails;
  /** Lines that a search found; undefined where none is made. */
  count: number | undefined;
  onEarlier: () => void;
  onLatest: () => void;
}

/** Shows which part of the log is loaded, what a search found in it, and how to load the rest. */
export function Part({ tails, count, onEarlier, onLatest }: PartProps) {
  const { isCut } = tails;
  const isWhole = tails.start === 0 && !isCut;
  const what = isCut ? `${size(tails.held)} before its end` : `the last ${size(tails.held)}`;
  const part = isWhole ? "the log" : `${what} of ${size(tails.size)}`;
  return (
    <div class="actions part">
      <span role="status">{count !== undefined && `${count.toLocaleString()} ${count === 1 ? "line" : "lines"} of ${part}`}</span>
      {count === undefined && !isWhole && <span class="quiet">Here is {part}.</span>}
      {tails.start > 0 && (
        <button type="button" onClick={onEarlier}>
          Earlier lines
        </button>
      )}
      {isCut && (
        <button type="button" onClick={onLatest}>
          Last lines
        </button>
      )}
    </div>
  );
}
