import { useContext } from "preact/hooks";
import type { Identity } from "../answers";
import { CallerContext } from "../rights";
import { link, type Route } from "../route";

/** Whose jobs an overview is about, in the words of the API. */
export type Scope = "mine" | "team" | "all";
const SCOPES: readonly Scope[] = ["mine", "team", "all"];
const PLACE = "slipway-scope";

/** That of the address, else the one that the reader chose last. A function key without a name has no jobs of its own. */
export function scopeOf(route: Route, caller: Identity): Scope {
  const offered = offeredTo(caller);
  const wish = route.query["scope"] ?? localStorage.getItem(PLACE);
  return offered.find((one) => one === wish) ?? "all";
}

function offeredTo({ id, teams }: Identity): readonly Scope[] {
  return SCOPES.filter((one) => (one === "mine" ? id !== null : one === "team" ? teams.length > 0 : true));
}

/** The conditions of a list of the same jobs; a list has one team at most. */
export function conditionsOf(scope: Scope, { id, teams }: Identity): Record<string, string> {
  if (scope === "mine" && id !== null) return { owner: id };
  const [team, ...others] = teams;
  return scope === "team" && team !== undefined && others.length === 0 ? { team: team.name } : {};
}

/** The scopes to choose from; the choice is in the address, and remembered. */
export function Scopes({ scope }: { scope: Scope }) {
  const caller = useContext(CallerContext);
  const offered = offeredTo(caller);
  if (offered.length < 2) return null;
  const [team, ...others] = caller.teams;
  const labels: Record<Scope, string> = { mine: "Mine", team: others.length === 0 ? `Team ${team?.name ?? ""}` : "My teams", all: "Everyone" };
  return (
    <nav class="seg" aria-label="Whose jobs">
      {offered.map((one) => (
        <a key={one} href={link(["overview"], { scope: one })} aria-current={one === scope ? "true" : undefined} onClick={() => localStorage.setItem(PLACE, one)}>
          {labels[one]}
        </a>
      ))}
    </nav>
  );
}
