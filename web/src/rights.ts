/** What the caller may do. What they may not do is not offered; the API refuses it anyway. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Job } from "./answers";

export interface Caller {
  id: string | null;
  roles: readonly string[];
}

/** While it is not known who calls, nothing is offered that changes anything. */
export const CallerContext = createContext<Caller>({ id: null, roles: [] });

export interface Rights {
  isAdmin: boolean;
  maySubmit: boolean;
  mayChange: (job: Job) => boolean;
}

export function useRights(): Rights {
  const { id, roles } = useContext(CallerContext);
  const isAdmin = roles.includes("Jobs.Admin");
  return {
    isAdmin,
    maySubmit: isAdmin || roles.includes("Jobs.Submit"),
    mayChange: (job) => isAdmin || (id !== null && job.owner === id),
  };
}
