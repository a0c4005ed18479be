import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { CodeEntry, CodeListing, JobCode, JobDetail, Receipt } from "../answers";
import { json } from "../api";
import { ApiError } from "../apierror";
import { size, visibleName, withCodes } from "../format";
import { Notice } from "../parts/parts";
import { Reading, useReading } from "../parts/reading";
import { kindOf, listingOrReason, remarkOn } from "./archive";

/** Names that are drawn at once. */
const DRAWN = 500;
const ORIGINS: Record<string, string> = {
  upload: "the folder that its sender packed",
  drop: "the dropped folder, as it was when the job was accepted",
  folder: "a folder of the drop container, as it was when the job was accepted",
};

/** The code that a job runs: where it comes from, and the names in its archive, which are its sender's words. */
export function Code({ job }: { job: JobDetail }) {
  return typeof job.code === "object" ? <Own id={job.id} code={job.code} /> : <None id={job.id} state={job.state} />;
}

function Own({ id, code }: { id: string; code: JobCode }) {
  const path = `jobs/${encodeURIComponent(id)}/code`;
  const listed = useReading(path, (signal) => listingOrReason(path, signal));
  const { value } = listed;
  const files = code.files ?? (value instanceof ApiError ? undefined : value?.files);
  return (
    <>
      <dl class="facts">
        {files !== undefined && <Fact name="Files">{files.toLocaleString("en")}</Fact>}
        <Fact name="Packed">{size(code.bytes)}</Fact>
        <Fact name="Appears in">{code.at === "work" ? "the working directory" : <code>{`$AZ_BATCHAI_JOB_MOUNT_ROOT/${code.at}`}</code>}</Fact>
        <Fact name="Comes from">{ORIGINS[code.origin] ?? code.origin}</Fact>
        <Fact name="SHA-256" isLong>
          <code>{code.sha256}</code>
        </Fact>
      </dl>
      <Reading of={listed} />
      {value instanceof ApiError && (
        <Notice kind="info">
          {value.message}. {value.remedy}
        </Notice>
      )}
      {value !== undefined && !(value instanceof ApiError) && <Listing listing={value} id={id} />}
    </>
  );
}

/** Characters of a text that the API answers. */
const TEXT = 64 << 10;

/** The beginning of one file. Nothing in it is ever run. */
function Opened({ path, entry }: { path: string; entry: CodeEntry }) {
  const reading = useReading(`${path}/${entry.name}`, (signal) => listingOrReason(path, signal, entry.name));
  const { value } = reading;
  if (value === undefined) return <Reading of={reading} />;
  if (value instanceof ApiError) return <Notice kind="info">{value.message}</Notice>;
  if (!value.text) return <p class="quiet">The file is empty.</p>;
  if (value.text.includes("\0")) return <p class="quiet">This is not text.</p>;
  return (
    <>
      <pre class="preview" tabIndex={0}>{withCodes(value.text)}</pre>
      {entry.bytes > TEXT && <p class="quiet">Only the first 64 KiB are shown.</p>}
    </>
  );
}

function Listing({ listing: { entries, more }, id }: { listing: CodeListing; id: string }) {
  const [start, startAt] = useState(0);
  const [opened, open] = useState(-1);
  const path = `jobs/${encodeURIComponent(id)}/code`;
  useEffect(() => startAt(0), [entries]);
  useEffect(() => open(-1), [entries, start]);
  const following = Math.min(DRAWN, entries.length - start - DRAWN);
  return (
    <>
      <p>
        <code>{`slipway code ${id} --to DIR`}</code> writes these files into a directory.
      </p>
      <ul class="files folder">
        {entries.slice(start, start + DRAWN).map((entry, index) => (
          <li key={start + index}>
            {entry.link !== undefined || entry.name.endsWith("/") ? (
              <span>{visibleName(entry.name)}</span>
            ) : (
              <button type="button" class="plain" aria-expanded={opened === index} onClick={() => open(opened === index ? -1 : index)}>
                {visibleName(entry.name)}
              </button>
            )}
            <span class="quiet">{kindOf(entry)}</span>
            <span class="quiet">{remarkOn(entry)}</span>
            <span />
            {opened === index && <Opened path={path} entry={entry} />}
          </li>
        ))}
      </ul>
      {entries.length === 0 && !more && <p class="quiet">There is nothing in it.</p>}
      {start > 0 && (
        <button type="button" onClick={() => startAt(0)}>
          First names
        </button>
      )}
      {following > 0 && (
        <button type="button" onClick={() => startAt(start + DRAWN)}>
          Next {following.toLocaleString("en")} names
        </button>
      )}
      {more && (
        <p class="quiet">
          It has more than the page lists: <code>{`slipway code ${id} --list`}</code> lists all of it.
        </p>
      )}
    </>
  );
}

/** A job without an archive. Only its receipt says whether it mounts what it runs. */
function None({ id, state }: { id: string; state: string }) {
  const path = `jobs/${encodeURIComponent(id)}/receipt`;
  const reading = useReading(path, (signal) => json<Receipt>(path, { signal }), state);
  return (
    <>
      <Reading of={reading} />
      {reading.value && (
        <p>
          {reading.value.code === "live"
            ? "Live: this job mounts what it runs, and each attempt runs the files that lie there when it starts."
            : "This job does not bring code of its own: it runs the command of its job.json, with what its image and its mounts have."}
        </p>
      )}
    </>
  );
}

function Fact({ name, isLong = false, children }: { name: string; isLong?: boolean; children: ComponentChildren }) {
  return (
    <div class={isLong ? "long" : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
