import { Teams } from "./teams";

/** What teams used and may still use. */
export function Usage() {
  return (
    <main>
      <h1>Usage</h1>
      <Teams />
    </main>
  );
}
