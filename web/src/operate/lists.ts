import { useMemo } from "preact/hooks";
import { Feed } from "../api";
import { LATEST, type Polled, usePoll } from "../poll";
import type { Shape } from "../shape";

/** A list that an operator looks at: with the health beside them, three of them ask four times a minute. */
export function useList<T>(path: string, shape: Shape): Polled<T> {
  const feed = useMemo(() => new Feed<T>(path, {}, shape), [path]);
  return usePoll(path, (signal) => feed.read(signal), { latest: 4 * LATEST });
}
