/** Calls that the deployment asked to be made later: until then its answer counts for every view, and nothing is sent. */
import type { ApiError } from "./apierror";
import { callerHeaders } from "./session";

const held = new Map<string, ApiError>();

/** Another caller may ask at once. */
const key = (place: string) => `${JSON.stringify(callerHeaders())} ${place}`;

/** Remember a refusal with the time until which it holds. */
export function holdBack(place: string, refusal: ApiError): void {
  if (refusal.pause > 0) held.set(key(place), refusal);
}

/** The refusal that still holds. */
export function heldBack(place: string): ApiError | undefined {
  const refusal = held.get(key(place));
  if (refusal === undefined || refusal.pause > 0) return refusal;
  held.delete(key(place));
  return undefined;
}
