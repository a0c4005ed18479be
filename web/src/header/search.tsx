import { Search as Glass } from "lucide";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../parts/icon";
import { link, type Route } from "../route";

/** Searches the jobs from every view. */
export function Search({ route }: { route: Route }) {
  const searched = route.steps[0] === "jobs" ? (route.query["contains"] ?? "") : "";
  const [text, setText] = useState(searched);
  useEffect(() => setText(searched), [searched]);
  const submit = (event: Event) => {
    event.preventDefault();
    location.hash = link(["jobs"], { contains: text.trim() });
  };
  return (
    <form class="find" role="search" aria-label="Search jobs" onSubmit={submit}>
      <Icon of={Glass} />
      <input type="search" id="search" aria-label="Search jobs" placeholder="Search jobs: a name, an error, an id" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}
