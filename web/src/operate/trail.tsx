import type { Trail, TrailAct } from "../answers";
import { useState } from "preact/hooks";
import { json, PATIENCE, type Query } from "../api";
import { Outcome, useDeed } from "../parts/deed";
import { Time } from "../parts/parts";
import { link } from "../route";

const SHAPE = { acts: [{ at: "text", by: "text", operation: "text", subject: "text" }] } as const;

/** Who did what, when the reader asks for it: the newest acts first, and older ones below. */
export function Trail() {
  const [by, setBy] = useState("");
  const [subject, setSubject] = useState("");
  /** The request, and its answers so far. */
  const [query, setQuery] = useState<Query>({});
  const [acts, setActs] = useState<readonly TrailAct[]>();
  const [damaged, setDamaged] = useState(0);
  const [page, setPage] = useState<Trail>();
  const deed = useDeed(PATIENCE.GET);
  const read = (conditions: Query, after: string | undefined, earlier: readonly TrailAct[], damagedBefore: number) =>
    deed.click(async () => {
      const answer = await json<Trail>("trail", { query: { ...conditions, after }, shape: SHAPE });
      setQuery(conditions);
      setPage(answer);
      setActs([...earlier, ...answer.acts]);
      setDamaged(damagedBefore + answer.unreadable);
    });
  const show = (event: Event) => {
    event.preventDefault();
    void read({ by: by.trim(), about: subject.trim() }, undefined, [], 0);
  };
  const older = (after: string) => void read(query, after, acts ?? [], damaged);
  return (
    <section aria-labelledby="trail">
      <h2 id="trail">Who did what</h2>
      <form class="filters" onSubmit={show}>
        <label>
          Caller <input value={by} autocomplete="off" onInput={(event) => setBy(event.currentTarget.value)} />
        </label>
        <label>
          Job, sweep or event <input value={subject} autocomplete="off" onInput={(event) => setSubject(event.currentTarget.value)} />
        </label>
        <button type="submit" aria-disabled={deed.isBusy}>
          Show the newest acts
        </button>
      </form>
      <Outcome deed={deed} />
      <div role="status">
        {acts?.length === 0 && <p class="quiet">{page?.next ? "No matching act is among the newest." : "No act matches."}</p>}
        {damaged > 0 && <p class="quiet">{damaged === 1 ? "1 damaged line of the trail was" : `${damaged} damaged lines of the trail were`} passed over.</p>}
      </div>
      {acts !== undefined && acts.length > 0 && <Acts acts={acts} />}
      {page?.next && (
        <button type="button" aria-disabled={deed.isBusy} onClick={() => older(page.next ?? "")}>
          Older acts
        </button>
      )}
    </section>
  );
}

function Acts({ acts }: { acts: readonly TrailAct[] }) {
  return (
    <table class="shares" tabIndex={0}>
      <caption>Requests that changed something, or were forbidden to</caption>
      <thead>
        <tr>
          {["Time", "Caller", "Act", "About", "Team", "Answer"].map((label) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {acts.map((act, index) => (
          <tr key={index}>
            <th scope="row">
              <Time at={act.at} />
            </th>
            <td>{act.by}</td>
            <td>{act.operation}</td>
            <td>
              <Subject act={act} />
            </td>
            <td>{act.team}</td>
            <td>{act.status}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What an act was about, or made: a job leads to its view. */
function Subject({ act: { subject, result = "" } }: { act: TrailAct }) {
  const id = subject || (result.split("/").at(-1) ?? "");
  return id.startsWith("j_") ? <a href={link(["jobs", id])}>{id}</a> : <code>{id}</code>;
}
