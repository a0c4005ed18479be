/** Data that a view reads once, and again if that fails: that it is loading, why it failed, and another try. */
import { type Polled, usePoll } from "../poll";
import { Refusal } from "./parts";

/** Another `version` makes it read again, and what was read stays until then. */
export function useReading<T>(key: string, read: (signal: AbortSignal) => Promise<T>, version?: unknown): Polled<T> {
  return usePoll(key, read, { isFinal: () => true, asksOnce: true, version });
}

export function Reading({ of: { value, error, readAt, again } }: { of: Polled<unknown> }) {
  return (
    <>
      <span role="status" class="quiet">
        {value === undefined && error === undefined && "Loading…"}
      </span>
      <Refusal error={error} readAt={readAt} onAgain={error?.problem["isSilence"] ? undefined : again} />
    </>
  );
}
