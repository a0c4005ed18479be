import { useEffect, useMemo, useState } from "preact/hooks";
import type { Explanation, JobDetail } from "../answers";
import { JOB } from "../shape";
import { json, type Query } from "../api";
import { JsonEditor } from "../editor/editor";
import { fixed } from "../editor/places";
import { onceKey } from "../job/once";
import { Outcome, useDeed } from "../parts/deed";
import { Findings } from "../parts/findings";
import { Notice, Refusal } from "../parts/parts";
import { Reading, useReading } from "../parts/reading";
import { useTyped } from "../parts/typed";
import { useRights } from "../rights";
import { link, type Route } from "../route";
import { type Earlier, earlier } from "./again";
import { useCheck } from "./check";
import { composed } from "./compose";
import { example } from "./example";
import { Explained, EXPLANATION } from "./explained";
import { draftOf, forgetDraft, keepDraft } from "./draft";
import { dropped, type Folder, FolderError, picked } from "./folder";

const FIRST = `{
  "properties": {
    "nodeCount": 1,
    "customToolkitSettings": { "commandLine": "echo Hello from $HOSTNAME" },
    "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"
  }
}
`;

/** Where there is no earlier job to begin with. */
const NONE: Earlier = { text: "", notes: [] };

/** A new job, or one that begins as an earlier one was. */
export function NewJob({ route }: { route: Route }) {
  return <OneDocument key={route.query["from"]} route={route} />;
}

/** A job.json or a folder that is checked while it is written, explained, and submitted. */
function OneDocument({ route }: { route: Route }) {
  const { maySubmit, mayNameTeam } = useRights();
  const { text, version, type, change, notes, trouble, earlierJob, load } = useDocument(route.query["from"], mayNameTeam);
  const [name, setName] = useTyped("name", "first");
  const [explanation, setExplanation] = useState<Explanation>();
  const explaining = useDeed();
  const sending = useDeed();
  const { checked, findings, isValid, error: unchecked } = useCheck(text);
  const members = membersOf(text);
  const hasName = members.has("name");
  const key = useMemo(onceKey, [text, name]);
  useEffect(() => setExplanation(undefined), [text]);
  const explain = () =>
    explaining.click(async () => setExplanation(await json<Explanation>("explain", { method: "POST", body: text, shape: EXPLANATION })));
  const submit = () =>
    sending.click(async () => {
      const place = await submitted(text, members.has("sweep"), hasName ? {} : { name }, members.has("idempotencyKey") ? {} : { "idempotency-key": key });
      forgetDraft();
      setName("first");
      location.hash = place;
    });
  const drop = (event: DragEvent) => {
    if (!event.dataTransfer?.files.length) return; // text that moves within the editor
    event.preventDefault();
    event.stopPropagation();
    const coming = dropped(event.dataTransfer);
    void load(async () => textOf(await coming));
  };
  const pick = (list: FileList | null) => list && void load(async () => textOf(await picked(list)));
  return (
    <main>
      <h1>New job</h1>
      <p class="quiet">Write or paste a job.json, or drop one here, or a folder with its scripts.</p>
      <form class="new" onSubmit={(event) => event.preventDefault()} onDragOver={(event) => event.preventDefault()} onDropCapture={drop}>
        <div class="actions">
          <FolderButton onPick={pick} />
          <button type="button" onClick={() => void load(example)}>
            Begin with the example
          </button>
        </div>
        <Reading of={earlierJob} />
        {trouble && <Notice kind="error">{trouble}</Notice>}
        {notes.map((note) => (
          <Notice key={note} kind="info">{note}</Notice>
        ))}
        {!hasName && (
          <label class="short">
            Name
            <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
        )}
        <JsonEditor label="job.json" text={text} version={version} checked={checked} findings={findings} onChange={type} />
        <div class="actions">
          <button type="button" aria-disabled={explaining.isBusy} onClick={() => void explain()}>
            Explain
          </button>
          {maySubmit && (
            <button type="button" class="main" disabled={isValid === false} aria-disabled={sending.isBusy} onClick={() => void submit()}>
              Submit
            </button>
          )}
          <span role="status">{isValid === undefined || unchecked ? "" : isValid ? "This document can run." : "This document cannot run."}</span>
        </div>
      </form>
      <Refusal error={unchecked} what="This document is not checked: " />
      <Outcome deed={explaining} onAgain={() => void explain()} />
      <Outcome deed={sending} onAgain={() => void submit()} />
      {explanation && <Explained explanation={explanation} />}
      <Findings findings={findings} isOld={checked !== text} onFix={(finding) => change(fixed(text, finding.edits ?? []))} />
    </main>
  );
}

/** The text that is written, and where it comes from. */
function useDocument(from: string | undefined, mayNameTeam: (team: string) => boolean) {
  const before = useMemo(() => draftOf(from), [from]);
  const [state, setState] = useState({ text: before ?? (from === undefined ? FIRST : ""), version: 0 });
  const [notes, setNotes] = useState<string[]>([]);
  const [trouble, setTrouble] = useState("");
  const earlierJob = useReading(`from ${from}`, async (signal) => (before === undefined && from !== undefined ? earlier(from, mayNameTeam, signal) : NONE));
  const put = (text: string) => setState(({ version }) => ({ text, version: version + 1 }));
  const type = (text: string) => {
    if (text !== state.text) keepDraft(from, text);
    setState(({ version }) => ({ text, version }));
  };
  /** Put in what the writer chose, and keep it as what they wrote. */
  const change = (text: string) => {
    keepDraft(from, text);
    put(text);
  };
  /** Put in what comes; a reason why nothing comes is shown. */
  const load = async (coming: () => Promise<string | undefined>) => {
    setTrouble("");
    setNotes([]);
    try {
      const text = await coming();
      if (text !== undefined) change(text);
    } catch (error) {
      if (!(error instanceof FolderError)) throw error;
      setTrouble(error.message);
    }
  };
  useEffect(() => {
    if (before !== undefined) setNotes(["This is what you wrote here before. It is forgotten when you submit it or close the tab."]);
  }, []);
  useEffect(() => {
    const one = earlierJob.value;
    if (one === undefined || one === NONE || state.text !== "") return; // what was written meanwhile stays
    setNotes(one.notes);
    put(one.text);
  }, [earlierJob.value]);
  return { ...state, change, type, notes, trouble, earlierJob, load };
}

async function textOf(coming: Folder | string | undefined): Promise<string | undefined> {
  return typeof coming === "object" ? composed(coming) : coming;
}

/** Submits a job, or a sweep of jobs; where the reader follows it. */
async function submitted(text: string, isSweep: boolean, query: Query, headers: Record<string, string>): Promise<string> {
  const options = { method: "POST", body: text, query, headers } as const;
  if (isSweep) return link(["jobs"], { sweep: (await json<{ sweepId: string }>("sweeps", { ...options, shape: { sweepId: "text" } })).sweepId });
  return link(["jobs", (await json<JobDetail>("jobs", { ...options, shape: JOB })).id]);
}

/** The names of the document's members. */
function membersOf(text: string): Set<string> {
  try {
    const document: unknown = JSON.parse(text);
    return new Set(typeof document === "object" && document !== null ? Object.keys(document) : []);
  } catch {
    return new Set(/^\s*\{\s*"name"/.test(text) ? ["name"] : []);
  }
}

/** The browser's dialog for folders, behind a button that the keyboard reaches. */
function FolderButton({ onPick }: { onPick: (list: FileList | null) => void }) {
  return (
    <label class="button">
      Choose a folder
      <input
        type="file"
        class="hidden"
        ref={(input) => input?.setAttribute("webkitdirectory", "")}
        onChange={(event) => {
          onPick(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
    </label>
  );
}
