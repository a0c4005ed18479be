import { render } from "preact";
import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import { Clusters } from "./clusters/clusters";
import { shownError } from "./apierror";
import { finish } from "./entra";
import { keepFocus } from "./focus";
import { useEntrance } from "./entrance";
import { JobView } from "./job/job";
import { Jobs } from "./jobs/jobs";
import { NewJob } from "./new/new";
import { Operate } from "./operate/operate";
import { Loading, Refusal } from "./parts/parts";
import { LATEST } from "./poll";
import { CallerContext } from "./rights";
import { link, type Route, useRoute } from "./route";
import { credential } from "./session";
import { SignIn } from "./signin";
import "./style.css";

const VIEWS: Record<string, string> = { jobs: "Jobs", clusters: "Clusters", operate: "Operate", new: "New job" };
/** Shown until the API has identified the caller. */
const UNKNOWN_CALLER = { id: null, roles: [], teams: [] };

function Page({ failure }: { failure: string }) {
  const route = useRoute();
  const { value, error, again, leave } = useEntrance();
  useEffect(() => {
    const [view = "", job] = route.steps;
    if (job === undefined) document.title = `${VIEWS[view] ?? view} · Slipway`; // that of a job has its name
  }, [route]);
  useFocus(route.steps.slice(0, 2).join("/"));
  if (value === undefined && (error === undefined || error.problem["isSilence"])) return <Loading />;
  const refusal = value && "refusal" in value ? value.refusal : undefined;
  if (refusal?.status === 401) return <SignIn error={refusal} failure={failure} trouble={error} onSignedIn={again} />;
  return (
    <CallerContext.Provider value={value && "caller" in value ? value.caller : UNKNOWN_CALLER}>
      <header>
        <a class="brand" href={link(["jobs"])}>
          Slipway
        </a>
        <nav aria-label="Views">
          {Object.entries(VIEWS).map(([name, label]) => (
            <a key={name} href={link([name])} aria-current={route.steps[0] === name ? "page" : undefined}>
              {label}
            </a>
          ))}
        </nav>
        {credential() !== null && (
          <button type="button" class="sign-out" onClick={leave}>
            Sign out
          </button>
        )}
      </header>
      {value === undefined && (
        <aside>
          <Refusal error={error} />
          <p class="quiet">Until the deployment has identified you, the page offers no changes.</p>
        </aside>
      )}
      {refusal === undefined ? (
        <View route={route} />
      ) : (
        <main>
          <h1>You may not use this deployment</h1>
          <Refusal error={refusal} />
        </main>
      )}
    </CallerContext.Provider>
  );
}

/** When a followed link disappears with its view, the focus moves to the heading of the next view, not to the top of the page. */
function useFocus(view: string): void {
  const before = useRef(view);
  useEffect(() => {
    if (before.current === view) return;
    before.current = view;
    if (document.activeElement !== document.body) return;
    const heading = document.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus();
  }, [view]);
}

/** A view that cannot draw an answer shows an error instead of an empty page; another view tries again. */
function View({ route }: { route: Route }) {
  const [broken, tryAgain] = useErrorBoundary();
  const place = JSON.stringify(route);
  useEffect(() => {
    if (broken === undefined) return undefined;
    const timer = window.setTimeout(tryAgain, LATEST);
    return () => window.clearTimeout(timer);
  }, [broken]);
  useEffect(() => void (broken !== undefined && tryAgain()), [place]);
  if (broken === undefined) return <Chosen route={route} />;
  return (
    <main>
      <h1>This view cannot be shown</h1>
      <Refusal error={shownError(broken)} onAgain={tryAgain} />
    </main>
  );
}

function Chosen({ route }: { route: Route }) {
  const [first, id, ...steps] = route.steps;
  if (first === "jobs" && id !== undefined) return <JobView key={id} id={id} steps={steps} attempt={route.query["attempt"] ?? ""} />;
  if (first === "jobs") return <Jobs route={route} />;
  if (first === "clusters") return <Clusters />;
  if (first === "operate") return <Operate />;
  if (first === "new") return <NewJob key={route.query["from"]} route={route} />;
  return (
    <main>
      <h1>There is no such view</h1>
      <p>
        <a href={link(["jobs"])}>All jobs</a>
      </p>
    </main>
  );
}

const place = document.getElementById("page");
if (place !== null) {
  keepFocus(place);
  render(<Loading />, place);
  render(<Page failure={await finish()} />, place);
}
