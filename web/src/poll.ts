/** Reads something again and again while the tab is visible: soon after a change, rarely when nothing happens. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, shownError } from "./apierror";

/** Milliseconds. An idle view asks four times a minute, all its polls together. */
export const SOONEST = 2_000;
export const LATEST = 15_000;
const LATEST_AFTER_ERROR = 60_000;
const SLOWER = 1.6;
/** Milliseconds without an answer after which the page says so. */
export const SILENCE = 10_000;

export interface Polled<T> {
  value: T | undefined;
  /** Why the last try failed, and since when none was answered. */
  error: ApiError | undefined;
  /** When the value was last known to be right, in milliseconds. */
  readAt: number | undefined;
  again: () => void;
}

/** The next pause after one of `wait` milliseconds. */
export function pauseAfter(wait: number, outcome: "changed" | "same" | "error", latest: number, soonest = SOONEST): number {
  if (outcome === "changed") return soonest;
  return Math.min(wait * SLOWER, outcome === "error" ? LATEST_AFTER_ERROR : latest);
}

/** The same error with the time of the first that it follows. */
function lasting({ status, message, remedy, wantsToken, findings, problem }: ApiError, start: number): ApiError {
  return new ApiError(status, message, remedy, wantsToken, findings, { ...problem, since: new Date(start).toISOString() });
}

function silent(): ApiError {
  return new ApiError(0, "No complete answer has come", "The page goes on waiting.", false, [], { isSilence: true });
}

/** A poll repeats its call without a click. */
function repeated({ status, message, remedy, wantsToken, findings, problem }: ApiError): ApiError {
  return new ApiError(status, message, `${remedy} The page tries again by itself.`.trim(), wantsToken, findings, problem);
}

interface Options<T> {
  /** The pause after a change, and the longest while nothing changes. */
  soonest?: number;
  latest?: number;
  /** Whether a value is final, so that nothing needs to be read again. */
  isFinal?: (value: T) => boolean;
  /** Whether what does not exist, or is not for the reader, is asked for once: nothing is sent after that refusal. */
  asksOnce?: boolean;
  /** Another one makes it read again at once, while the value stays. */
  version?: unknown;
}

/** Poll `read` from now on, and from the start whenever `key` changes. */
export function usePoll<T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  { soonest = SOONEST, latest = LATEST, isFinal = () => false, asksOnce = false, version }: Options<T> = {},
): Polled<T> {
  const [shown, setShown] = useState<Omit<Polled<T>, "again">>({ value: undefined, error: undefined, readAt: undefined });
  const [round, setRound] = useState(0);
  const failing = useRef<number | undefined>(undefined);
  useEffect(() => {
    failing.current = undefined;
    setShown({ value: undefined, error: undefined, readAt: undefined });
  }, [key]);
  useEffect(() => {
    const ends = new AbortController();
    let wait = soonest;
    let timer: number | undefined;
    let due = 0;
    let value: T | undefined;

    const plan = () => {
      window.clearTimeout(timer);
      if (document.hidden || due === Infinity) return;
      timer = window.setTimeout(tick, Math.max(0, due - Date.now()));
    };
    const tell = (error: ApiError, start: number) => {
      failing.current ??= start;
      const notice = lasting(error, failing.current);
      setShown((before) => ({ ...before, error: notice }));
    };
    const tick = async () => {
      due = Infinity; // one call at a time
      let outcome: "changed" | "same" | "error" = "same";
      let least = 0;
      const start = Date.now();
      const silence = window.setTimeout(() => tell(silent(), start), SILENCE);
      try {
        const fresh = await read(ends.signal);
        if (ends.signal.aborted) return;
        outcome = fresh === value ? "same" : "changed";
        value = fresh;
        failing.current = undefined;
        setShown({ value: fresh, error: undefined, readAt: Date.now() });
        if (isFinal(fresh)) return;
      } catch (error) {
        if (ends.signal.aborted) return;
        const refusal = shownError(error);
        if (asksOnce && value === undefined && refusal.isOfTheApi && (refusal.status === 404 || refusal.status === 403)) {
          setShown((before) => ({ ...before, error: refusal }));
          return;
        }
        outcome = "error";
        least = refusal.pause;
        tell(repeated(refusal), start);
      } finally {
        window.clearTimeout(silence);
      }
      wait = pauseAfter(wait, outcome, latest, soonest);
      due = Date.now() + Math.max(least, wait);
      plan();
    };

    document.addEventListener("visibilitychange", plan, { signal: ends.signal });
    plan();
    return () => {
      ends.abort();
      window.clearTimeout(timer);
    };
  }, [key, round, version]);
  return { ...shown, again: () => setRound((number) => number + 1) };
}
