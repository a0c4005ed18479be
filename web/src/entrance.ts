/** Who calls: asked before any view, and again when a view is refused, as after a token has expired. */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, json, onUnknownCaller } from "./api";
import { LATEST } from "./poll";
import type { Caller } from "./rights";

export interface Entrance {
  /** Undefined while it is not known. */
  caller: Caller | undefined;
  /** Why no one is let in: 401, or 403 for a caller without any role. Undefined before the first answer. */
  refusal: ApiError | null | undefined;
}

export function useEntrance(): Entrance & { ask: () => void } {
  const [shown, setShown] = useState<Entrance>({ caller: undefined, refusal: undefined });
  const [round, setRound] = useState(0);
  const isInside = useRef(false);
  const ask = () => setRound((number) => number + 1);
  useEffect(() => {
    let timer: number | undefined;
    const enter = async () => {
      isInside.current = false;
      try {
        setShown({ caller: await json<Caller>("me"), refusal: null });
        isInside.current = true;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const isShut = error.status === 401 || error.status === 403;
        setShown({ caller: undefined, refusal: isShut ? error : null }); // a view shows anything else
        if (!isShut) timer = window.setTimeout(ask, LATEST);
      }
    };
    void enter();
    return () => window.clearTimeout(timer);
  }, [round]);
  useEffect(() => onUnknownCaller(() => isInside.current && ask()), []);
  return { ...shown, ask };
}
