/** When the focused control disappears, the keyboard focus moves to a neighbour, not to the top of the page. */

const CONTROLS = "button:not(:disabled), a[href], input, select, textarea";

/** Watch the page; a view marks the element that gets the focus first with `data-focus`. */
export function keepFocus(page: HTMLElement): void {
  let path: Element[] = [];
  document.addEventListener("focusin", ({ target }) => {
    path = [];
    if ((target as Element).closest('[role="table"]') !== null) return; // it draws its rows anew, and looks after the focus itself
    for (let one = target as Element | null; one !== null && one !== page; one = one.parentElement) path.push(one);
  });
  const watch = () => {
    const [last, ...around] = path;
    if (last === undefined || last.isConnected || document.activeElement !== document.body) return;
    path = [];
    const place = around.find((one) => one.isConnected);
    if (place !== undefined) goOn(place);
  };
  new MutationObserver(watch).observe(page, { childList: true, subtree: true });
}

/** At the nearest control of this place, or at the heading of what is around it. */
function goOn(place: Element): void {
  const isPart = place.closest("section, main") !== place;
  const control = isPart ? (place.querySelector<HTMLElement>("[data-focus]") ?? place.querySelector<HTMLElement>(CONTROLS)) : null;
  const heading = place.closest("section, main")?.querySelector<HTMLElement>("h1, h2, h3");
  if (control === null) heading?.setAttribute("tabindex", "-1");
  (control ?? heading)?.focus();
}
