/** The jobs that a reader chose in a list: one by one, or all that fit the search, also those that are not read yet. */
import { useState } from "preact/hooks";
import type { JobLine } from "../answers";

export interface Chosen {
  ids: ReadonlySet<string>;
  /** Whether all that fit are meant. */
  isAll: boolean;
  /** Choose these jobs, or none of them where all are chosen. */
  toggle: (jobs: readonly JobLine[]) => void;
  all: () => void;
  none: () => void;
}

export function useChosen(jobs: readonly JobLine[]): Chosen {
  const [state, setState] = useState<{ ids: ReadonlySet<string>; isAll: boolean }>({ ids: new Set(), isAll: false });
  const ids = state.isAll ? new Set(jobs.map(({ id }) => id)) : state.ids;
  return {
    ids,
    isAll: state.isAll,
    toggle: (some) => {
      const next = new Set(ids);
      const isOff = some.every(({ id }) => next.has(id));
      for (const { id } of some) {
        if (isOff) next.delete(id);
        else next.add(id);
      }
      setState({ ids: next, isAll: false });
    },
    all: () => setState({ ids: new Set(), isAll: true }),
    none: () => setState({ ids: new Set(), isAll: false }),
  };
}
