/** A table of which only the visible rows are in the document, so that thousands of them cost nothing. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JobLine } from "../answers";
import { deploymentTime } from "../clock";
import { dayOf } from "../days";
import { useNow } from "../parts/parts";
import type { Chosen } from "./chosen";
import { type Choice, edges, type Item, itemsOf, jobsOf, rowAt } from "./items";
import { DayRow, FoldRow, JobRow } from "./row";

/** Pixels of the rows, where they are lines and where they are cards. */
const HEIGHTS = { line: { day: 32, job: 56, fold: 56 }, card: { day: 32, job: 84, fold: 84 } } as const;
const CARDS = window.matchMedia("(max-width: 640px)");
/** Rows beyond the visible ones; and pixels from the top within which a row may be half in view. */
const [SPARE, CLEAR] = [5, 60];
/** Pixels that are scrolled before rows are drawn anew: the spare ones cover them. */
const COARSE = 24;

interface Props {
  jobs: readonly JobLine[];
  isByEnd: boolean;
  chosen: Chosen;
  /** Where the reader is, kept up to date. */
  place: { top: number };
  /** Called when the end of the known jobs comes into view. */
  onEnd: () => void;
}

export function Rows({ jobs, isByEnd, chosen, place, onEnd }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const now = useNow(deploymentTime); // one for all: as they are scrolled, rows come and go in every frame
  const heights = HEIGHTS[useCards() ? "card" : "line"];
  const items = useMemo(() => itemsOf(jobs, isByEnd, open, new Date(now)), [jobs, isByEnd, open, dayOf(new Date(now))]);
  const tops = useMemo(() => edges(items, ({ kind }) => heights[kind]), [items, heights]);
  const isPrinting = useRef(false);
  const measure = () => {
    if (box.current === null || isPrinting.current) return;
    const { top, height } = measured(box.current);
    place.top = top;
    setView((before) => (top > 0 && Math.abs(before.top - top) < COARSE && before.height === height ? before : { top, height }));
  };
  useLayoutEffect(() => {
    if (box.current) scrollTo(box.current, place.top);
  }, []);
  useEffect(() => {
    const sizes = new ResizeObserver(measure);
    if (box.current) sizes.observe(box.current);
    const ends = new AbortController();
    const { signal } = ends;
    window.addEventListener("scroll", measure, { passive: true, signal });
    const print = (isOn: boolean) => {
      isPrinting.current = isOn;
      if (isOn) setView({ top: 0, height: Infinity }); // all rows that are loaded
      else measure();
    };
    window.addEventListener("beforeprint", () => print(true), { signal });
    window.addEventListener("afterprint", () => print(false), { signal });
    return () => {
      sizes.disconnect();
      ends.abort();
    };
  }, []);
  const first = Math.max(0, rowAt(tops, view.top) - SPARE);
  const last = Math.min(items.length, rowAt(tops, view.top + view.height) + 1 + SPARE);
  useAnchor(items, tops, box, rowAt(tops, view.top));
  useEffect(() => {
    if (last >= items.length) onEnd();
  }, [last, items.length]);

  const toggle = (fold: string) => setOpen((before) => (before.has(fold) ? new Set([...before].filter((one) => one !== fold)) : new Set([...before, fold])));
  const atKeys = useKeys({ items, tops, box, view, first, last, measure, chosen });
  const isEvery = jobs.length > 0 && jobs.every(({ id }) => chosen.ids.has(id));
  return (
    <div class={`table ${chosen.ids.size > 0 ? "choosing" : ""}`} role="table" aria-label="Jobs" aria-rowcount={items.length + 1} onKeyDown={atKeys.pressed}>
      <div role="rowgroup" class="heads">
        <div class="row head" role="row" aria-rowindex={1}>
          <span role="columnheader" class="cell-check">
            <input type="checkbox" aria-label="All that fit the search" checked={isEvery} onChange={() => (isEvery ? chosen.none() : chosen.all())} />
          </span>
          {["State", "Job", "Experiment, cluster", "Who, team", "Nodes", isByEnd ? "Ended" : "Created", "Waited", "Ran"].map((name) => (
            <span role="columnheader" key={name} class={`cell-${NAMES[name] ?? name.toLowerCase()}`}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <div class="rows" role="rowgroup" ref={box} onScroll={measure} tabIndex={-1}>
        <div class="room" role="presentation" style={{ height: `${tops.at(-1)}px` }}>
          {items.slice(first, last).map((item, number) => {
            const index = first + number;
            const at = { index, top: tops[index] ?? 0, height: heights[item.kind] };
            if (item.kind === "day") return <DayRow key={item.id} title={item.title} at={at} />;
            const props = { at, isStop: index === atKeys.stop, isChosen: jobsOf(item).every(({ id }) => chosen.ids.has(id)), isByEnd, now, onChoose: () => chosen.toggle(jobsOf(item)) };
            return item.kind === "fold" ? <FoldRow key={item.id} fold={item} {...props} onToggle={() => toggle(item.id)} /> : <JobRow key={item.id} job={item.job} isInner={item.isInner} {...props} />;
          })}
        </div>
      </div>
    </div>
  );
}

const NAMES: Record<string, string> = { Created: "time", Ended: "time", "Experiment, cluster": "where", "Who, team": "who" };

/** Whether rows are cards, one below the other on a narrow screen. */
function useCards(): boolean {
  const [areCards, change] = useState(CARDS.matches);
  useEffect(() => {
    const follow = () => change(CARDS.matches);
    CARDS.addEventListener("change", follow);
    return () => CARDS.removeEventListener("change", follow);
  }, []);
  return areCards;
}

/** The part of the rows that is in view: the box scrolls, or, where it is as high as its rows, the page does. */
function measured(box: HTMLElement): { top: number; height: number } {
  const above = Math.max(0, -box.getBoundingClientRect().top);
  return { top: box.scrollTop + above, height: Math.min(box.clientHeight, window.innerHeight) };
}

function scrollTo(box: HTMLElement, top: number): void {
  if (getComputedStyle(box).overflowY !== "visible") box.scrollTop = top;
  else if (top > 0) window.scrollTo(0, top + box.getBoundingClientRect().top + window.scrollY);
}

/** Rows that are added above the visible ones do not move these. */
function useAnchor(items: readonly Item[], tops: readonly number[], box: { current: HTMLElement | null }, first: number): void {
  const before = useRef({ items, tops });
  useLayoutEffect(() => {
    const { items: earlier, tops: places } = before.current;
    before.current = { items, tops };
    const top = box.current === null ? 0 : measured(box.current).top;
    if (earlier === items || box.current === null || top === 0) return;
    const anchor = earlier.findIndex((item, index) => index >= first && isChoice(item));
    const is = items.findIndex(({ id }) => id === earlier[anchor]?.id);
    const move = (tops[is] ?? 0) - (places[anchor] ?? 0);
    if (is >= 0 && move !== 0) scrollTo(box.current, top + move);
  }, [items, tops]);
}

interface KeysOf {
  items: readonly Item[];
  tops: readonly number[];
  box: { current: HTMLElement | null };
  view: { top: number; height: number };
  /** The rows that are in the document. */
  first: number;
  last: number;
  measure: () => void;
  chosen: Chosen;
}

/** Where Tab stops in the list, and what the keys do there; `j`, `k` and `x` also act while nothing has the focus. */
function useKeys({ items, tops, box, view, first, last, measure, chosen }: KeysOf) {
  const [stopId, setStop] = useState("");
  const chosenRow = items.findIndex(({ id }) => id === stopId);
  const stop = chosenRow >= first && chosenRow < last ? chosenRow : nearest(items, rowAt(tops, view.top > 0 ? view.top + CLEAR : 0), 1);
  const go = (index: number, step: number) => {
    const row = nearest(items, Math.max(0, Math.min(items.length - 1, index)), step);
    setStop(items[row]?.id ?? "");
    if (box.current) reveal(box.current, tops[row] ?? 0, tops[row + 1] ?? 0);
    measure();
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`#row-${row} .name`)?.focus());
  };
  const act = (key: string): boolean => {
    const page = rowAt(tops, (tops[stop] ?? 0) + view.height) - stop;
    const step = STEPS[key]?.(Math.max(1, page - 1), stop, items.length);
    const item = items[stop];
    if (step !== undefined) go(step, step < stop || key === "End" ? -1 : 1);
    else if (key === "x" && item) chosen.toggle(jobsOf(item));
    else return false;
    return true;
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || !act(event.key)) return;
    event.preventDefault();
  };
  // A key counts from the moment that the rows are seen.
  useLayoutEffect(() => {
    const anywhere = (event: KeyboardEvent) => {
      if (event.target !== document.body || !["j", "k", "x"].includes(event.key)) return;
      if (event.key === "x" && chosenRow < 0) return;
      // The first key goes to the first row, not past it.
      if (chosenRow < 0) go(stop, 1);
      else pressed(event);
    };
    document.addEventListener("keydown", anywhere);
    return () => document.removeEventListener("keydown", anywhere);
  });
  return { stop, pressed };
}

/** The row at an index that has jobs, or the next in this direction, or else in the other. */
function nearest(items: readonly Item[], index: number, step: number): number {
  for (let at = index; at >= 0 && at < items.length; at += step) if (isChoice(items[at])) return at;
  for (let at = index; at >= 0 && at < items.length; at -= step) if (isChoice(items[at])) return at;
  return -1;
}

function isChoice(item: Item | undefined): item is Choice {
  return item !== undefined && item.kind !== "day";
}

const STEPS: Record<string, (page: number, stop: number, length: number) => number> = {
  ArrowDown: (_, stop) => stop + 1,
  j: (_, stop) => stop + 1,
  ArrowUp: (_, stop) => stop - 1,
  k: (_, stop) => stop - 1,
  PageDown: (page, stop) => stop + page,
  PageUp: (page, stop) => stop - page,
  Home: () => 0,
  End: (_page, _stop, length) => length - 1,
};

function reveal(box: HTMLElement, top: number, bottom: number): void {
  const { top: begin, height } = measured(box);
  if (top < begin) scrollTo(box, top);
  if (bottom > begin + height) scrollTo(box, bottom - height);
}
