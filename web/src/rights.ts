/** The rights of the caller. The page does not offer what they may not do; the API refuses it anyway. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Identity, JobLine } from "./answers";

/** Until the caller is known, the page offers no changes. */
export const CallerContext = createContext<Identity>({ id: null, roles: [], teams: [] });

export interface Rights {
  isAdmin: boolean;
  /** Whether they manage a team. */
  isManager: boolean;
  maySubmit: boolean;
  mayChange: (job: JobLine) => boolean;
  /** Whether a new job of theirs may belong to this team. */
  mayNameTeam: (team: string) => boolean;
}

export function useRights(): Rights {
  const { id, roles, teams } = useContext(CallerContext);
  const isAdmin = roles.includes("Jobs.Admin");
  const manages = (team: string | undefined) => teams.some(({ name, manager }) => manager && name === team);
  return {
    isAdmin,
    isManager: teams.some(({ manager }) => manager),
    maySubmit: isAdmin || roles.includes("Jobs.Submit"),
    mayChange: (job) => isAdmin || (id !== null && job.owner === id) || manages(job.team),
    mayNameTeam: (team) => isAdmin || teams.some(({ name }) => name === team),
  };
}
