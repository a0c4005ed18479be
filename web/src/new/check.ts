import { useEffect, useState } from "preact/hooks";
import type { Finding } from "../answers";
import { json, shownError } from "../api";

/** Milliseconds after the last key. */
const PAUSE = 400;

export interface Check {
  findings: readonly Finding[];
  /** Undefined until the present text has been checked. */
  isValid: boolean | undefined;
}

const NOTHING: Check = { findings: [], isValid: undefined };

/** What is wrong with a document, asked for whenever the writer pauses; only the answer to the last text counts. */
export function useCheck(text: string): Check {
  const [state, setState] = useState(NOTHING);
  useEffect(() => {
    const ends = new AbortController();
    setState((before) => (before.isValid === undefined ? before : { ...before, isValid: undefined }));
    const ask = async () => {
      if (!text.trim()) return setState(NOTHING);
      try {
        const { valid, problems } = await json<{ valid: boolean; problems: Finding[] }>("validate", {
          method: "POST",
          body: text,
          signal: ends.signal,
        });
        if (!ends.signal.aborted) setState({ findings: problems, isValid: valid });
      } catch (error) {
        if (ends.signal.aborted) return;
        shownError(error);
        setState(NOTHING); // submitting shows what is wrong
      }
    };
    const timer = window.setTimeout(() => void ask(), PAUSE);
    return () => {
      window.clearTimeout(timer);
      ends.abort();
    };
  }, [text]);
  return state;
}
