import { link, type Route } from "../route";
import "./header.css";
import { Mark } from "./mark";
import { Me } from "./me";
import { Search } from "../jobs/search/search";

/** The views in the order in which people need them. */
const VIEWS: readonly (readonly [label: string, address: string])[] = [
  ["Overview", link([])],
  ["Jobs", link(["jobs"])],
  ["Sweeps", link(["jobs"], { group: "sweep" })],
  ["Clusters", link(["clusters"])],
  ["Usage", link(["usage"])],
  ["Operate", link(["operate"])],
];

/** The view that an address belongs to. */
function viewOf({ steps, query }: Route): string {
  const [view = ""] = steps;
  return view === "jobs" && (query["group"] === "sweep" || query["sweep"]) ? "sweeps" : view;
}

/** On top of every view: where the reader is, where else they can go, and as whom. */
export function Header({ route, isRefused, onLeave }: { route: Route; isRefused: boolean; onLeave: () => void }) {
  const view = viewOf(route);
  return (
    <header class="bar">
      <a class="mark" href={link([])}>
        <Mark />
        Slipway
      </a>
      <nav class="views" aria-label="Views">
        {VIEWS.map(([label, address]) => (
          <a key={label} href={address} aria-current={label.toLowerCase() === view ? "page" : undefined}>
            {label}
          </a>
        ))}
      </nav>
      {!isRefused && <Search route={route} />}
      <a class="button main" href={link(["new"])} aria-current={view === "new" ? "page" : undefined}>
        New job
      </a>
      <Me onLeave={onLeave} />
    </header>
  );
}
