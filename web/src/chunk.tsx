/** Views are loaded when they are opened first, so that the first one of a visit comes soon. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Loading, Notice } from "./parts/parts";
import type { Route } from "./route";

export type View = ComponentType<{ route: Route }>;
type Load = () => Promise<View>;

const loaded = new Map<Load, View>();

/** A view once its program is here. A deployment that was updated meanwhile may not have it any more. */
export function Chunk({ load, route }: { load: Load; route: Route }) {
  const [, setRound] = useState(0);
  const [isMissing, miss] = useState(false);
  useEffect(() => {
    let isGone = false;
    miss(false);
    if (loaded.has(load)) return undefined;
    load().then(
      (view) => {
        loaded.set(load, view);
        if (!isGone) setRound((round) => round + 1);
      },
      () => isGone || miss(true),
    );
    return () => {
      isGone = true;
    };
  }, [load]);
  const View = loaded.get(load);
  if (View !== undefined) return <View route={route} />;
  if (!isMissing) return <Loading />;
  return (
    <main>
      <h1>This view cannot be loaded</h1>
      <Notice kind="error">
        The deployment does not answer, or has a newer page.{" "}
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </Notice>
    </main>
  );
}
