import { ENDS, type JobDetail, type OutputDirectories, type OutputEntries, type OutputEntry } from "../../answers";
import { useEffect, useState } from "preact/hooks";
import { json } from "../../api";
import { size, visibleName } from "../../format";
import { Refusal, Time } from "../../parts/parts";
import { Reading, useReading } from "../../parts/reading";
import { link } from "../../route";
import { Attempts } from "../attempts";
import { Download, DownloadAll } from "./download";
import { Preview } from "./preview";

/** What a job wrote, folder by folder; `at` is the directory and the folders below it. */
export function Files({ job, at, attempt }: { job: JobDetail; at: string[]; attempt: string }) {
  const { id } = job;
  const ended = ENDS.has(job.state);
  const calls = `jobs/${encodeURIComponent(id)}`;
  // What the job wrote as it is now, and again as it is when the job has ended.
  const outputs = useReading(`${calls}/outputs ${attempt}`, (signal) => json<OutputDirectories>(`${calls}/outputs`, { query: { attempt }, shape: { outputs: [{ id: "text" }] }, signal }), ended);
  const [directory = "stdouterr", ...folders] = at;
  const path = folders.join("/");
  const [after, goOn] = useState("");
  const query = { directory, path: path || ".", after, attempt };
  const listed = useReading(JSON.stringify([calls, query]), (signal) => json<OutputEntries>(`${calls}/files`, { query, shape: { files: [{ name: "text" }] }, signal }), ended);
  const [opened, open] = useState("");
  useEffect(() => open(""), [directory, path, after, attempt]);
  useEffect(() => goOn(""), [directory, path, attempt]);
  const address = (...steps: string[]) => link(["jobs", id, "files", ...steps], { attempt });
  const fileOf = (name: string) => ({ id, directory, path: [...folders, name].join("/"), attempt });
  return (
    <>
      <div class="actions">
        <Attempts job={job} attempt={attempt} part="files" />
        <DownloadAll id={id} attempt={attempt} />
      </div>
      <nav class="tabs" aria-label="Output directories">
        {outputs.value?.outputs.map((one) => (
          <a key={one.id} href={address(one.id)} title={one.path} aria-current={one.id === directory ? "page" : undefined}>
            {one.id}
          </a>
        ))}
      </nav>
      <Reading of={listed} />
      <Refusal error={listed.error ? undefined : outputs.error} readAt={outputs.readAt} />
      {folders.length > 0 && (
        <p>
          <a href={address(directory, ...folders.slice(0, -1))}>↑ {folders.slice(0, -1).at(-1) ?? directory}</a>
        </p>
      )}
      <ul class="files folder">
        {listed.value?.files.map((file) => (
          <li key={file.name}>
            {file.bytes === null ? (
              <Closed file={file} href={address(directory, ...folders, ...file.name.split("/"))} />
            ) : (
              <>
                <button type="button" class="plain" aria-expanded={opened === file.name} onClick={() => open(opened === file.name ? "" : file.name)}>
                  {visibleName(file.name)}
                </button>
                <span class="quiet">{size(file.bytes)}</span>
              </>
            )}
            <span class="quiet">{file.modified && <Time at={file.modified} />}</span>
            {file.bytes !== null && (
              <span class="actions">
                <Download file={fileOf(file.name)} size={file.bytes} name={visibleName(file.name)} />
              </span>
            )}
            {opened === file.name && <Preview file={fileOf(file.name)} size={file.bytes ?? 1} />}
          </li>
        ))}
      </ul>
      {listed.value?.files.length === 0 && !after && <p class="quiet">There is nothing in it.</p>}
      {after && (
        <button type="button" onClick={() => goOn("")}>
          First names
        </button>
      )}
      {listed.value?.next && (
        <button type="button" onClick={() => goOn(listed.value?.next ?? "")}>
          Next {listed.value.files.length.toLocaleString("en")} names
        </button>
      )}
    </>
  );
}

const NO_FILES = new Map(
  Object.entries({
  link: "a link out of the run's folder, not followed",
  nowhere: "a link that leads nowhere",
  special: "a link to a pipe, a socket or a device",
  above: "a link to a folder above it",
  unkept: "not uploaded by its node: execution.log says why",
  pipe: "a pipe, not a file",
  socket: "a socket, not a file",
  device: "a device, not a file",
  other: "a pipe, a socket, a device, or a link that leads nowhere or out of the run's folder",
  }),
);

function notOffered(file: OutputEntry): string {
  const kind = file.kind ?? (file.link ? "link" : "");
  return NO_FILES.get(kind) ?? (kind ? "left out: its name cannot be requested" : "left out");
}

/** A folder, or a name that cannot be followed. */
function Closed({ file, href }: { file: OutputEntry; href: string }) {
  if (file.link || file.leftOut) {
    return (
      <>
        <span>{visibleName(file.name)}</span>
        <span class="quiet">{notOffered(file)}</span>
      </>
    );
  }
  return (
    <>
      <a href={href}>{visibleName(file.name)}/</a>
      <span />
    </>
  );
}
