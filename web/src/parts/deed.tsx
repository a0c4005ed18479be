/** A call that a click starts: that it is under way, how long it may take, why it failed, and another try. */
import { useEffect, useRef, useState } from "preact/hooks";
import { PATIENCE } from "../api";
import { type ApiError, shownError } from "../apierror";
import { Refusal, Time, useNow } from "./parts";

/** Milliseconds without an answer after which the page shows how long it waits. */
const LATE = 5_000;

export interface Deed {
  /** Whether an answer is still to come. */
  isBusy: boolean;
  since: number | undefined;
  error: ApiError | undefined;
  patience: number;
  /** Do it instead of what was begun before. */
  begin: (act: () => Promise<void>) => Promise<void>;
  /** Do it, unless a call is under way: a second click does nothing. */
  click: (act: () => Promise<void>) => Promise<void>;
  again: () => void;
}

interface State {
  since?: number;
  error?: ApiError;
  act?: () => Promise<void>;
}

export function useDeed(patience: number = PATIENCE.POST): Deed {
  const [{ since, error, act }, setState] = useState<State>({});
  const newest = useRef(0);
  const isBusy = useRef(false);
  useEffect(() => () => void (newest.current += 1), []);
  const begin = async (todo: () => Promise<void>) => {
    const mine = (newest.current += 1);
    const end = (state: State) => {
      if (mine !== newest.current) return;
      isBusy.current = false;
      setState(state);
    };
    isBusy.current = true;
    setState({ since: Date.now() });
    try {
      await todo();
      end({});
    } catch (problem) {
      if (mine === newest.current) end({ error: shownError(problem), act: todo });
    }
  };
  const click = async (todo: () => Promise<void>) => (isBusy.current ? undefined : begin(todo));
  return { isBusy: since !== undefined, since, error, patience, begin, click, again: () => void (act && click(act)) };
}

interface OutcomeProps {
  deed: Deed;
  /** What it is called while it is quick. */
  doing?: string;
  /** How far it is, once a part of the answer has come. */
  progress?: string;
  /** Where another try needs what the reader has written since. */
  onAgain?: () => void;
}

/** An element that stays, so that a screen reader announces its changes. */
export function Outcome({ deed, doing = "Asking the deployment…", progress = "", onAgain }: OutcomeProps) {
  const { since, error, patience, again } = deed;
  return (
    <>
      <span role="status" class="quiet">
        {since !== undefined && !progress && <Wait since={since} patience={patience} doing={doing} />}
      </span>
      {since !== undefined && progress && <span class="quiet">{progress}</span>}
      <Refusal error={error} onAgain={error?.isPassing ? (onAgain ?? again) : undefined} />
    </>
  );
}

function Wait({ since, patience, doing }: { since: number; patience: number; doing: string }) {
  if (useNow() - since < LATE) return <>{doing}</>;
  return (
    <>
      There has been no answer since <Time at={new Date(since).toISOString()} />. The page waits {patience / 1000} s for one at most…
    </>
  );
}
