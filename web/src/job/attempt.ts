import { ApiError } from "../api";

/** Do what the reader asked for; a refusal is shown where the reader looks. */
export async function attempt(show: (error: ApiError | undefined) => void, act: () => Promise<void>): Promise<void> {
  show(undefined);
  try {
    await act();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    show(error);
  }
}

/** A key that no other request has: a request that is sent again because its answer was lost counts once. */
export function onceKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
