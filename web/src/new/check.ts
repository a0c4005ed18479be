import { useEffect, useState } from "preact/hooks";
import type { Finding } from "../answers";
import { json } from "../api";
import type { ApiError } from "../apierror";
import { usePoll } from "../poll";

/** Milliseconds after the last key. */
const PAUSE = 400;
const SHAPE = { problems: [{ code: "text", severity: "text", message: "text" }] } as const;

export interface Check {
  /** The text that was checked last. */
  checked: string | undefined;
  findings: readonly Finding[];
  /** Undefined until the present text has been checked. */
  isValid: boolean | undefined;
  /** Why it is not checked. */
  error: ApiError | undefined;
}

/** The problems of a document, requested whenever the writer pauses; only the answer to the last text counts. */
export function useCheck(text: string): Check {
  const settled = useSettled(text);
  const ask = async (signal: AbortSignal) => {
    if (!settled.trim()) return { text: settled, valid: undefined, problems: [] };
    const options = { method: "POST", body: settled, shape: SHAPE, signal } as const;
    return { text: settled, ...(await json<{ valid: boolean; problems: Finding[] }>("validate", options)) };
  };
  const { value, error } = usePoll("check", ask, { version: settled, isFinal: () => true });
  return { checked: value?.text, findings: value?.problems ?? [], isValid: value?.text === text ? value.valid : undefined, error };
}

/** The text after the writer has paused. */
function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = window.setTimeout(() => settle(text), PAUSE);
    return () => window.clearTimeout(timer);
  }, [text]);
  return settled;
}
