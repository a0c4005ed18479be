import { link, type Route } from "../route";

/** What a view marks as its list; else its table, else its heading. */
const PLACES = ["main [data-start]", 'main :is([role="table"], [role="grid"])', "main h1"] as const;

/** The first stop of Tab: from there, the first job is one stop away. */
export function Skip({ route }: { route: Route }) {
  const skip = (event: Event) => {
    event.preventDefault();
    const place = PLACES.map((selector) => document.querySelector<HTMLElement>(selector)).find((one) => one !== null);
    place?.setAttribute("tabindex", "-1");
    place?.focus();
  };
  return (
    <a class="skip" href={link(route.steps, route.query)} onClick={skip}>
      Skip to the list
    </a>
  );
}
