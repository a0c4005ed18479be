import { Keyboard, LogOut, Monitor, Moon, Sun } from "lucide";
import { useContext, useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import { CallerContext } from "../rights";
import { credential } from "../session";
import { shortWho } from "../who";
import { chooseTheme, theme, type Theme, THEMES } from "../theme";
import { showKeys } from "./keys";

const SIGNS = { system: Monitor, light: Sun, dark: Moon } as const;
const LABELS: Record<Theme, string> = { system: "System", light: "Light", dark: "Dark" };

/** Who is signed in, their team, and what belongs to them: the theme, and the way out. */
export function Me({ onLeave }: { onLeave: () => void }) {
  const { id, roles, teams } = useContext(CallerContext);
  const isKnown = roles.length > 0;
  const who = id === null ? (isKnown ? "key" : "unknown") : shortWho(id);
  const team = teams[0]?.name;
  return (
    <>
      <button type="button" class="me" popovertarget="me">
        <i aria-hidden="true">{initials(who)}</i>
        <span class="cut">
          {who}
          {team && ` · ${team}`}
        </span>
        <span class="hidden">: account and theme</span>
      </button>
      <div id="me" popover="auto" class="menu" role="group" aria-label="Account and theme">
        <dl>
          <dt>Signed in as</dt>
          <dd>{id ?? (isKnown ? "a holder of a function key" : "not known yet")}</dd>
          {teams.length > 0 && <dt>{teams.length === 1 ? "Team" : "Teams"}</dt>}
          {teams.length > 0 && <dd>{teams.map(({ name, manager }) => (manager ? `${name} (manager)` : name)).join(", ")}</dd>}
          <dt>Deployment</dt>
          <dd>{location.host}</dd>
        </dl>
        <Themes />
        <div class="actions">
          <button type="button" onClick={showKeys}>
            <Icon of={Keyboard} size={14} />
            Keys
          </button>
          {credential() !== null && (
            <button type="button" onClick={onLeave}>
              <Icon of={LogOut} size={14} />
              Sign out
            </button>
          )}
        </div>
      </div>
    </>
  );
}

function Themes() {
  const [chosen, setChosen] = useState(theme);
  const choose = (one: Theme) => {
    chooseTheme(one);
    setChosen(one);
  };
  return (
    <div class="seg" role="group" aria-label="Theme">
      {THEMES.map((one) => (
        <button key={one} type="button" aria-pressed={one === chosen} onClick={() => choose(one)}>
          <Icon of={SIGNS[one]} size={14} />
          {LABELS[one]}
        </button>
      ))}
    </div>
  );
}

/** Two letters: of two words, or the first of one. */
function initials(who: string): string {
  const [first = "", second] = who.split(/[\s._-]+/).filter(Boolean);
  return (second === undefined ? Array.from(first).slice(0, 2) : [Array.from(first)[0], Array.from(second)[0]]).join("");
}
