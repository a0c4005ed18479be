import { render } from "preact";
import { useEffect, useErrorBoundary, useRef } from "preact/hooks";
import { shownError } from "./apierror";
import { Chunk, type View as OneView } from "./chunk";
import { finish } from "./entra";
import { keepFocus } from "./focus";
import { useEntrance } from "./entrance";
import { Header } from "./header/header";
import { Keys } from "./header/keys";
import { Skip } from "./header/skip";
import { Loading, Refusal } from "./parts/parts";
import { LATEST } from "./poll";
import { CallerContext } from "./rights";
import { link, type Route, useRoute } from "./route";
import { SignIn } from "./signin";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/views.css";
import { applyTheme } from "./theme";

/** The views by the first step of their address: their title, and where their program is. */
const VIEWS: Record<string, { title: string; load: () => Promise<OneView> }> = {
  overview: { title: "Overview", load: async () => (await import("./overview/overview")).Overview },
  jobs: { title: "Jobs", load: async () => (await import("./jobs/jobs")).Jobs },
  clusters: { title: "Clusters", load: async () => (await import("./clusters/clusters")).Clusters },
  usage: { title: "Usage", load: async () => (await import("./usage/usage")).Usage },
  operate: { title: "Operate", load: async () => (await import("./operate/operate")).Operate },
  new: { title: "New job", load: async () => (await import("./new/new")).NewJob },
};
const loadJob = async () => (await import("./job/job")).JobView;
/** Shown until the API has identified the caller. */
const UNKNOWN_CALLER = { id: null, roles: [], teams: [] };

function Page({ failure }: { failure: string }) {
  const route = useRoute();
  const { value, error, again, leave } = useEntrance();
  useEffect(() => {
    const [view = "", job] = route.steps;
    if (job === undefined) document.title = `${Object.hasOwn(VIEWS, view) ? VIEWS[view]?.title : view} · Slipway`; // that of a job has its name
  }, [route]);
  useFocus(route.steps.slice(0, 2).join("/"));
  if (value === undefined && (error === undefined || error.problem["isSilence"])) return <Loading />;
  const refusal = value && "refusal" in value ? value.refusal : undefined;
  if (refusal?.status === 401) return <SignIn error={refusal} failure={failure} trouble={error} onSignedIn={again} />;
  return (
    <CallerContext.Provider value={value && "caller" in value ? value.caller : UNKNOWN_CALLER}>
      <Skip route={route} />
      <Header route={route} isRefused={refusal !== undefined} onLeave={leave} />
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
      <Keys />
    </CallerContext.Provider>
  );
}

/** When a followed link disappears with its view, the focus moves to the heading of the next view, not to the top of the page. */
function useFocus(view: string): void {
  const before = useRef(view);
  useEffect(() => {
    if (before.current === view) return undefined;
    before.current = view;
    if (focusHeading()) return undefined;
    const observer = new MutationObserver(() => focusHeading() && observer.disconnect());
    observer.observe(document.body, { childList: true, subtree: true }); // its program is still to come
    return () => observer.disconnect();
  }, [view]);
}

/** Whether there is a heading; it gets the focus if nothing else has it. */
function focusHeading(): boolean {
  const heading = document.querySelector("h1");
  if (heading === null) return false;
  if (document.activeElement !== document.body) return true;
  heading.setAttribute("tabindex", "-1");
  heading.focus();
  return true;
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
  const [first = "", id] = route.steps;
  if (first === "jobs" && id !== undefined) return <Chunk load={loadJob} route={route} />;
  const view = Object.hasOwn(VIEWS, first) ? VIEWS[first] : undefined;
  if (view !== undefined) return <Chunk load={view.load} route={route} />;
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
applyTheme();
if (place !== null) {
  keepFocus(place);
  render(<Loading />, place);
  render(<Page failure={await finish()} />, place);
}
