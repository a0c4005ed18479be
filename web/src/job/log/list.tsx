/** The rows of a log, of which only those near the view are in the document. */
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { coloured, plain, type Run } from "./ansi";
import { addressOf, type Row } from "./rows";

/** Rows that are drawn together; pixels of a row, until it is measured; and pixels around the view that are drawn, too. */
const [PIECE, LINE, AROUND] = [100, 20, 500];
/** Pieces in the document at most: 2,000 lines. */
const MOST_PIECES = 20;
/** Pixels from the end within which a reader is at the end. */
const NEAR = 40;

interface Props {
  rows: readonly Row[];
  label: string;
  isWrapped: boolean;
  isFollowed: boolean;
  /** The row to open at, by its address, and how many rows from there are marked. */
  at: string;
  marked: number;
  onLeave: () => void;
  /** A folded row was clicked: its address. */
  onFold: (at: string) => void;
  /** Where the number of a line leads to, by its address. */
  hrefOf: (at: string) => string;
  children?: ComponentChildren;
}

type Span = readonly [first: number, last: number];

export function List({ rows, label, isWrapped, isFollowed, at, marked, onLeave, onFold, hrefOf, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const pieces = usePieces(rows);
  const heights = useMemo(() => new WeakMap<Row, number>(), [isWrapped]);
  const target = useMemo(() => placeOf(rows, at), [rows, at]);
  const [span, setSpan] = useState<Span>([0, 0]);
  const [first, last] = shownSpan(span, pieces.length, isFollowed);
  const height = (piece: readonly Row[]) => heights.get(piece[0]!) ?? piece.length * LINE;
  const room = (some: readonly (readonly Row[])[]) => some.reduce((sum, piece) => sum + height(piece), 0);
  const top = useRef(0);
  const follow = () => {
    const place = box.current;
    if (place === null) return;
    const { scrollTop, scrollHeight, clientHeight } = place;
    if (isFollowed && scrollTop < top.current && scrollHeight - scrollTop - clientHeight > NEAR) onLeave();
    top.current = scrollTop;
    const next = spanAt(pieces.map(height), scrollTop - AROUND, scrollTop + clientHeight + AROUND);
    if (next[0] !== span[0] || next[1] !== span[1]) setSpan(next);
  };
  const opened = useRef("");
  const openAt = (place: HTMLElement) => {
    const row = place.querySelector<HTMLElement>(".marked-line");
    const start = pieces.slice(0, Math.floor(target / PIECE));
    place.scrollTop = (row ? row.offsetTop : room(start)) - place.clientHeight / 3;
    if (row) opened.current = at;
  };
  useLayoutEffect(() => {
    const place = box.current;
    if (place === null) return;
    for (const one of place.querySelectorAll<HTMLElement>("[data-piece]")) {
      const piece = pieces[Number(one.dataset["piece"])];
      if (piece?.[0]) heights.set(piece[0], one.offsetHeight);
    }
    if (isFollowed) place.scrollTop = place.scrollHeight;
    else if (target >= 0 && opened.current !== at) openAt(place);
    follow();
  });
  const clicked = ({ target: place }: Event) => {
    if (place instanceof HTMLElement && place.dataset["fold"] !== undefined) onFold(place.dataset["fold"]);
  };
  useKeptPlace(box, rows, isFollowed);
  return (
    <div class={`log ${isWrapped ? "wrapped" : ""}`} ref={box} role="log" aria-label={label} aria-live="off" tabIndex={0} onScroll={follow} onClick={clicked}>
      <div style={{ height: `${room(pieces.slice(0, first))}px` }} />
      {pieces.slice(first, last + 1).map((piece, index) => (
        <Piece key={`${addressOf(piece[0]!)} ${piece[0]!.folded > 0}`} rows={piece} place={first + index} hrefOf={hrefOf} {...marks(target, marked, PIECE * (first + index))} />
      ))}
      <div style={{ height: `${room(pieces.slice(last + 1))}px` }} />
      {children}
    </div>
  );
}

/** The same pieces as long as they have the same rows, so that they are not drawn again. */
function usePieces(rows: readonly Row[]): readonly (readonly Row[])[] {
  const before = useRef<readonly (readonly Row[])[]>([]);
  return useMemo(() => {
    const pieces = Array.from({ length: Math.ceil(rows.length / PIECE) }, (_, index) => {
      const fresh = rows.slice(index * PIECE, (index + 1) * PIECE);
      const old = before.current[index];
      return old?.length === fresh.length && old.every((row, place) => row === fresh[place]) ? old : fresh;
    });
    before.current = pieces;
    return pieces;
  }, [rows]);
}

/** The row with this address, or the last one that begins before it; -1 for none. */
function placeOf(rows: readonly Row[], at: string): number {
  const colon = at.lastIndexOf(":");
  const [file, byte] = [at.slice(0, colon), Number(at.slice(colon + 1))];
  if (colon < 1 || Number.isNaN(byte)) return -1;
  return rows.findLastIndex((row) => row.file === file && row.byte <= byte);
}

function shownSpan([first, last]: Span, count: number, isFollowed: boolean): Span {
  if (isFollowed) return [Math.max(0, count - 3), count - 1];
  const place = Math.max(0, Math.min(first, count - 1));
  return [place, Math.min(last, place + MOST_PIECES - 1, count - 1)];
}

/** Which rows of the piece that begins with this row are marked. */
function marks(target: number, marked: number, start: number): { from: number; to: number } {
  const rowOf = (row: number) => Math.min(PIECE, Math.max(0, row - start));
  return target < 0 ? { from: 0, to: 0 } : { from: rowOf(target), to: rowOf(target + marked) };
}

/** The pieces between two heights. */
function spanAt(heights: readonly number[], from: number, to: number): Span {
  let [first, last, sum] = [0, 0, 0];
  for (const [index, height] of heights.entries()) {
    if (sum + height < from) first = index + 1;
    if (sum < to) last = index;
    sum += height;
  }
  return [Math.min(first, Math.max(0, heights.length - 1)), last];
}

/** When rows come before the first one, the reader still sees the same. */
function useKeptPlace(box: RefObject<HTMLDivElement | null>, rows: readonly Row[], isFollowed: boolean): void {
  const before = useRef<{ row: Row | undefined; height: number }>({ row: undefined, height: 0 });
  useLayoutEffect(() => {
    const place = box.current;
    if (place === null) return;
    const { row, height } = before.current;
    if (!isFollowed && row !== undefined && rows[0] !== row && rows.includes(row)) place.scrollTop += place.scrollHeight - height;
    before.current = { row: rows[0], height: place.scrollHeight };
  }, [rows]);
}

interface PieceProps {
  rows: readonly Row[];
  hrefOf: (at: string) => string;
  place: number;
  /** The rows of this piece that are marked. */
  from: number;
  to: number;
}

function Piece({ rows, hrefOf, place, from, to }: PieceProps) {
  return useMemo(() => {
    const runs = coloured(rows.map(({ text }) => text));
    return (
      <div data-piece={place}>
        {rows.map((row, index) => (
          <div key={index} class={`line${row.isError ? " err" : ""}${index >= from && index < to ? " marked-line" : ""}`}>
            <a class="no" tabIndex={-1} aria-label={row.number ? `Line ${row.number}` : "Link to this line"} data-number={row.number || "·"} href={hrefOf(addressOf(row))} />
            {row.folded ? (
              <button type="button" class="fold" tabIndex={-1} data-fold={addressOf(row)}>
                {`${row.folded} ${row.folded === 1 ? "line" : "lines"} of metrics`}
              </button>
            ) : (
              <span class="text">{drawn(runs[index] ?? [], row)}</span>
            )}
          </div>
        ))}
      </div>
    );
  }, [rows, place, from, to]);
}

function drawn(runs: readonly Run[], { text }: Row) {
  if (runs.length === 0) return plain(text);
  return runs.map(({ text: part, style, ink, ground }, index) =>
    style === "" ? (
      part
    ) : (
      <span key={index} class={style} style={{ ...(ink && { "--ink-of-job": `rgb(${ink})` }), ...(ground && { "--ground-of-job": `rgb(${ground})` }) }}>
        {part}
      </span>
    ),
  );
}
