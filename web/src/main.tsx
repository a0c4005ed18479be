import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError, call } from "./api";
import { Clusters } from "./clusters/clusters";
import { JobView } from "./job/job";
import { Jobs } from "./jobs/jobs";
import { NewJob } from "./new/new";
import { Operate } from "./operate/operate";
import { link, type Route, useRoute } from "./route";
import { credential, signOut } from "./session";
import { SignIn } from "./signin";
import "./style.css";

/** Whether the API takes this caller, asked once before any view; a view that is refused later asks again. */
function useEntrance() {
  const [refusal, setRefusal] = useState<ApiError | null>();
  const ask = async () => {
    try {
      await call("jobs", { query: { limit: 1 } });
      setRefusal(null);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setRefusal(error.status === 401 ? error : null); // a view shows anything else
    }
  };
  useEffect(() => void ask(), []);
  return { refusal, ask };
}

const VIEWS: Record<string, string> = { jobs: "Jobs", clusters: "Clusters", operate: "Operate", new: "New job" };

function Page() {
  const route = useRoute();
  const { refusal, ask } = useEntrance();
  useEffect(() => {
    document.title = [...route.steps.slice(0, 2), "Slipway"].join(" · ");
  }, [route]);
  if (refusal === undefined) return <p role="status">Loading…</p>;
  if (refusal !== null) return <SignIn error={refusal} onSignedIn={ask} />;
  const leave = () => {
    signOut();
    void ask();
  };
  return (
    <>
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
      <View route={route} />
    </>
  );
}

function View({ route }: { route: Route }) {
  const [first, id, ...steps] = route.steps;
  if (first === "jobs" && id !== undefined) return <JobView key={id} id={id} steps={steps} />;
  if (first === "jobs") return <Jobs route={route} />;
  if (first === "clusters") return <Clusters />;
  if (first === "operate") return <Operate />;
  if (first === "new") return <NewJob />;
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
if (place !== null) render(<Page />, place);
