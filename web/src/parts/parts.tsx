/** Small parts that every view uses. Text from jobs and people goes into text nodes, and nowhere else. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ApiError } from "../apierror";
import { duration, localTime } from "../format";
import { SILENCE } from "../poll";
import { Findings } from "./findings";
import { meaningOf, Sign } from "./icon";

/** The word of a state, with a sign, so that it does not depend on colour alone. */
export function State({ word }: { word: string }) {
  return (
    <span class={`state is-${meaningOf(word)}`}>
      <Sign of={word} />
      {word}
    </span>
  );
}

/** A time in the reader's zone, with the UTC in the tooltip. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at.replace("T", " ").replace("Z", " UTC")}>
      {localTime(at)}
    </time>
  );
}

export function Notice({ kind, children }: { kind: "error" | "info"; children: ComponentChildren }) {
  return (
    <div class={`notice notice-${kind}`} role={kind === "error" ? "alert" : "status"}>
      {children}
    </div>
  );
}

interface RefusalProps {
  error: ApiError | undefined;
  /** The data that is missing because of it. */
  what?: string;
  readAt?: number | undefined;
  onAgain?: (() => void) | undefined;
}

/** What went wrong and since when, what the reader can do, and how old the data is that the page still shows. */
export function Refusal({ error, what = "", readAt, onAgain }: RefusalProps) {
  const now = useNow();
  if (error === undefined) return null;
  const { since, until, isSilence } = error.problem;
  const start = typeof since === "string" && <Time at={since} />;
  return (
    <Notice kind="error">
      <strong>{what + error.message}</strong>
      {isSilence ? <> since {start}. </> : error.message.endsWith(".") ? " " : ". "}
      {error.remedy}
      {start && !isSilence && <> This has been so since {start}.</>}
      {error.pause > 0 && <> The deployment accepts no such call before <Time at={new Date(Number(until)).toISOString()} />.</>}
      <Findings findings={error.findings} />
      {readAt !== undefined && <> What you see is {duration(now - readAt)} old.</>}
      {onAgain && error.pause === 0 && (
        <>
          {" "}
          <button type="button" onClick={onAgain}>
            Try again
          </button>
        </>
      )}
    </Notice>
  );
}

/** Shown instead of the page until the API has identified the caller; also shows that no answer comes. */
export function Loading() {
  const [start] = useState(Date.now);
  const isLate = useNow() - start >= SILENCE;
  return <p role="status">{isLate ? <>There has been no answer since <Time at={new Date(start).toISOString()} />. The page goes on waiting.</> : "Loading…"}</p>;
}

/** The time in milliseconds by this clock, again and again while the tab is visible: every second, or every so many milliseconds. */
export function useNow(clock = Date.now, every = 1000): number {
  const [now, setNow] = useState(clock);
  useEffect(() => {
    const timer = window.setInterval(() => document.hidden || setNow(clock()), every);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}
