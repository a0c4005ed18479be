/** The clock of the deployment, from which its times come: that of the reader may be hours off. */

/** Milliseconds by which the two differ at most where they count as the same: the answers have whole seconds, and some come late. */
const SAME = 30_000;
/** Milliseconds by which the deployment's is ahead. */
let ahead = 0;

/** Take the time from the headers of an answer that has just come. */
export function setClock(headers: Headers): void {
  const difference = Date.parse(headers.get("date") ?? "") - Date.now();
  if (!Number.isNaN(difference)) ahead = Math.abs(difference) > SAME ? difference : 0;
}

/** The time there, in milliseconds. */
export function deploymentTime(): number {
  return Date.now() + ahead;
}
