/** The caller: requested before any view, and again when a view is refused, for example after a token has expired. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Identity } from "./answers";
import { json, onUnknownCaller, WHO } from "./api";
import { ApiError } from "./apierror";
import { LATEST, type Polled, usePoll } from "./poll";
import { borrow, credential, joinTabs, signOut } from "./session";

/** The caller, or why there is none: 401, or 403 for a caller without any role. */
type Answer = { caller: Identity } | { refusal: ApiError };

const SHAPE = { roles: ["text"], teams: [{ name: "text" }] } as const;

export function useEntrance(): Polled<Answer> & { leave: () => void } {
  const [visit, begin] = useState(0);
  const options = { latest: 4 * LATEST, isFinal: (answer: Answer) => !("refusal" in answer) || answer.refusal.status === 401 };
  const polled = usePoll(`${WHO} ${visit}`, enter, options);
  const { value } = polled;
  const doubted = useRef<Answer | undefined>(undefined);
  const doubt = () => {
    if (value === undefined || "refusal" in value || doubted.current === value) return; // it has been requested already
    doubted.current = value;
    polled.again();
  };
  useEffect(() => onUnknownCaller(doubt), [value]);
  const isRefused = value !== undefined && "refusal" in value && value.refusal.status === 401;
  useEffect(
    () =>
      joinTabs(
        () => isRefused,
        () => begin((before) => before + 1),
      ),
    [isRefused],
  );
  const leave = () => {
    signOut();
    begin((before) => before + 1); // remove what the last caller saw before the next one is known
  };
  return { ...polled, leave };
}

async function enter(signal: AbortSignal): Promise<Answer> {
  try {
    return { caller: await json<Identity>(WHO, { shape: SHAPE, signal }) };
  } catch (error) {
    if (!(error instanceof ApiError && (error.status === 401 || error.status === 403))) throw error;
    if (error.status === 401 && credential() === null && (await borrow())) return enter(signal);
    return { refusal: error };
  }
}
