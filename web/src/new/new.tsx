import { useEffect, useState } from "preact/hooks";
import type { Finding, JobDetail } from "../answers";
import { ApiError, json } from "../api";
import { attempt } from "../job/attempt";
import { Findings } from "../parts/findings";
import { Notice, Refusal } from "../parts/parts";
import { useRights } from "../rights";
import { link } from "../route";
import { fixed } from "./edits";

/** Milliseconds after the last key. */
const PAUSE = 500;
const FIRST = `{
  "properties": {
    "nodeCount": 1,
    "customToolkitSettings": { "commandLine": "echo Hello from $HOSTNAME" },
    "stdOutErrPathPrefix": "$AZ_BATCHAI_MOUNT_ROOT/logs"
  }
}
`;

interface Explanation {
  verdict: string;
  summary: string;
  notes: string[];
  warnings?: string[];
}

/** A job.json that is checked while it is written, explained, and submitted. */
export function NewJob() {
  const { maySubmit } = useRights();
  const [text, setText] = useState(FIRST);
  const [name, setName] = useState("first");
  const [explanation, setExplanation] = useState<Explanation>();
  const [error, setError] = useState<ApiError>();
  const { findings, isValid } = useFindings(text);
  const query = { name };
  const put = (value: string) => {
    setText(value);
    setExplanation(undefined);
  };
  const explain = () =>
    attempt(setError, async () => setExplanation(await json<Explanation>("explain", { method: "POST", body: text })));
  const submit = () =>
    attempt(setError, async () => {
      const job = await json<JobDetail>("jobs", { method: "POST", body: text, query });
      location.hash = link(["jobs", job.id]);
    });
  const drop = async (event: DragEvent) => {
    const file = event.dataTransfer?.files[0];
    if (file === undefined) return;
    event.preventDefault();
    put(await file.text());
  };
  return (
    <main>
      <h1>New job</h1>
      <p class="quiet">Write or paste a job.json, or drop the file here. Its scripts must be where its nodes find them.</p>
      <form class="new" onSubmit={(event) => event.preventDefault()}>
        <label>
          Name
          <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label for="text">job.json</label>
        <textarea
          id="text"
          rows={18}
          spellcheck={false}
          value={text}
          onInput={(event) => put(event.currentTarget.value)}
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => void drop(event)}
        />
        <div class="actions">
          <button type="button" onClick={() => void explain()}>
            Explain
          </button>
          {maySubmit && (
            <button type="button" disabled={isValid === false} onClick={() => void submit()}>
              Submit
            </button>
          )}
          <span role="status">{isValid === undefined ? "" : isValid ? "This document can run." : "This document cannot run."}</span>
        </div>
      </form>
      <Refusal error={error} />
      {explanation && (
        <Notice kind={explanation.verdict === "runs" ? "info" : "error"}>
          <strong>{explanation.verdict}</strong> {explanation.summary}
          <ul>
            {[...explanation.notes, ...(explanation.warnings ?? [])].map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </Notice>
      )}
      <Findings findings={findings} onFix={(finding) => put(fixed(text, finding.edits ?? []))} />
    </main>
  );
}

/** What is wrong with a document, asked for whenever the writer pauses. */
function useFindings(text: string): { findings: Finding[]; isValid: boolean | undefined } {
  const [state, setState] = useState<{ findings: Finding[]; isValid: boolean | undefined }>({ findings: [], isValid: undefined });
  useEffect(() => {
    const ends = new AbortController();
    const ask = async () => {
      if (!text.trim()) return setState({ findings: [], isValid: undefined });
      try {
        const { valid, problems } = await json<{ valid: boolean; problems: Finding[] }>("validate", {
          method: "POST",
          body: text,
          signal: ends.signal,
        });
        setState({ findings: problems, isValid: valid });
      } catch (error) {
        if (ends.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        setState({ findings: [], isValid: undefined }); // submitting shows what is wrong
      }
    };
    const timer = window.setTimeout(() => void ask(), PAUSE);
    return () => {
      window.clearTimeout(timer);
      ends.abort();
    };
  }, [text]);
  return state;
}
