/** Reads something again and again while the tab is visible: soon after a change, rarely when nothing happens. */
import { useEffect, useState } from "preact/hooks";
import { ApiError, shownError } from "./api";

/** Milliseconds. An idle view asks four times a minute, all its polls together. */
export const SOONEST = 2_000;
export const LATEST = 15_000;
const LATEST_AFTER_ERROR = 60_000;
/** The most that a deployment may ask a poll to wait. */
const LONGEST = 600_000;
const SLOWER = 1.6;
/** Milliseconds without an answer after which the reader is told. */
export const SILENCE = 10_000;

export interface Polled<T> {
  value: T | undefined;
  /** Why the last try failed. */
  error: ApiError | undefined;
  /** When the value was last known to be right, in milliseconds. */
  readAt: number | undefined;
  again: () => void;
}

/** The next pause after one of `wait` milliseconds. */
export function pauseAfter(wait: number, outcome: "changed" | "same" | "error", latest: number): number {
  if (outcome === "changed") return SOONEST;
  return Math.min(wait * SLOWER, outcome === "error" ? LATEST_AFTER_ERROR : latest);
}

function silent(start: number): ApiError {
  const problem = { since: new Date(start).toISOString() };
  return new ApiError(0, "No complete answer has come", "The page goes on waiting.", false, [], problem);
}

/** What a poll asks for needs no click to be asked for again. */
function repeated({ status, message, remedy, problem }: ApiError): ApiError {
  return new ApiError(status, message, `${remedy} The page tries again by itself.`.trim(), false, [], problem);
}

interface Options<T> {
  /** The longest pause while nothing changes. */
  latest?: number;
  /** Whether a value is final, so that nothing needs to be read again. */
  isFinal?: (value: T) => boolean;
}

/** Poll `read` from now on, and from the start whenever `key` changes. */
export function usePoll<T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  { latest = LATEST, isFinal = () => false }: Options<T> = {},
): Polled<T> {
  const [shown, setShown] = useState<Omit<Polled<T>, "again">>({ value: undefined, error: undefined, readAt: undefined });
  const [round, setRound] = useState(0);
  useEffect(() => setShown({ value: undefined, error: undefined, readAt: undefined }), [key]);
  useEffect(() => {
    const ends = new AbortController();
    let wait = SOONEST;
    let timer: number | undefined;
    let due = 0;
    let value: T | undefined;

    const plan = () => {
      window.clearTimeout(timer);
      if (document.hidden || due === Infinity) return;
      timer = window.setTimeout(tick, Math.max(0, due - Date.now()));
    };
    const tick = async () => {
      due = Infinity; // one call at a time
      let outcome: "changed" | "same" | "error" = "same";
      let least = 0;
      const start = Date.now();
      const silence = window.setTimeout(() => setShown((before) => ({ ...before, error: silent(start) })), SILENCE);
      try {
        const fresh = await read(ends.signal);
        outcome = fresh === value ? "same" : "changed";
        value = fresh;
        setShown({ value: fresh, error: undefined, readAt: Date.now() });
        if (isFinal(fresh)) return;
      } catch (error) {
        if (ends.signal.aborted) return;
        const refusal = shownError(error);
        outcome = "error";
        least = Math.min(1000 * Number(refusal.problem["retryAfter"] ?? 0), LONGEST);
        setShown((before) => ({ ...before, error: refusal.isPassing ? repeated(refusal) : refusal }));
        if (refusal.status === 401) return; // until the caller signs in
      } finally {
        window.clearTimeout(silence);
      }
      wait = Math.max(least, pauseAfter(wait, outcome, latest));
      due = Date.now() + wait;
      plan();
    };

    document.addEventListener("visibilitychange", plan, { signal: ends.signal });
    plan();
    return () => {
      ends.abort();
      window.clearTimeout(timer);
    };
  }, [key, round]);
  return { ...shown, again: () => setRound((number) => number + 1) };
}
