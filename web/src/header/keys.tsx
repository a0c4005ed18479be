import { useEffect, useRef } from "preact/hooks";
import { link } from "../route";

/** Milliseconds in which the second key of two follows the first. */
const TOGETHER = 1500;
const PLACES = new Map(Object.entries({ o: link([]), j: link(["jobs"]), c: link(["clusters"]) }));
/** All keys of the page; those of a list and of a log are of their views. */
const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["/"], "search for jobs"],
  [["g", "o"], "go to the overview"],
  [["g", "j"], "go to the jobs"],
  [["g", "c"], "go to the clusters"],
  [["j"], "next job of a list, as the arrow down"],
  [["k"], "the one before, as the arrow up"],
  [["Enter"], "open it"],
  [["x"], "select it"],
  [["f"], "find in the log"],
  [["r"], "go to \"Run again\" of a job"],
  [["?"], "these keys"],
];

/** Whether the key is meant for what is written: the editor lies in a tree of its own. */
export function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, select, textarea"));
}

/** The keys that every view has, and the dialog that lists all of them. */
export function Keys() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    let before = { key: "", at: 0 };
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || document.querySelector("dialog[open]") !== null) return;
      const isSecond = before.key === "g" && Date.now() - before.at < TOGETHER;
      const place = isSecond ? PLACES.get(event.key) : undefined;
      before = { key: event.key, at: Date.now() };
      if (place !== undefined) {
        event.preventDefault();
        event.stopImmediatePropagation(); // `j` alone walks through a list
        location.hash = place;
      } else if (event.key === "?") {
        event.preventDefault();
        dialog.current?.showModal();
      }
    };
    document.addEventListener("keydown", pressed, { capture: true });
    return () => document.removeEventListener("keydown", pressed, { capture: true });
  }, []);
  return (
    <dialog ref={dialog} class="keys" aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <dl>
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

/** Opens the dialog with the keys, for those who do not know its key. */
export function showKeys(): void {
  document.querySelector<HTMLDialogElement>("dialog.keys")?.showModal();
}
