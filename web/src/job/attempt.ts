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
