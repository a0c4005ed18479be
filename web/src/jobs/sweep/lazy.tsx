/** The view of a sweep, whose program with its plots is loaded when it is opened first: lists do without. */
import { useEffect, useState } from "preact/hooks";
import { Notice } from "../../parts/parts";
import type { Sweep } from "./sweep";

type View = typeof Sweep;

let loaded: View | undefined;

export function LazySweep(props: Parameters<View>[0]) {
  const [, setRound] = useState(0);
  const [isMissing, miss] = useState(false);
  useEffect(() => {
    if (loaded !== undefined) return;
    import("./sweep").then(
      ({ Sweep: View }) => {
        loaded = View;
        setRound((round) => round + 1);
      },
      () => miss(true),
    );
  }, []);
  if (loaded !== undefined) {
    const View = loaded;
    return <View {...props} />;
  }
  if (isMissing) return <Notice kind="error">The view of sweeps cannot be loaded: load the page again.</Notice>;
  return <p role="status">Loading…</p>;
}
