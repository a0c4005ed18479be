import type { Choice } from "./rows";

interface Props {
  /** The files that the job's processes wrote. */
  names: readonly string[];
  file: string;
  /** The file that is shown where none is chosen. */
  shown: string;
  onFile: (file: string) => void;
  streams: Choice["streams"];
  onStreams: (streams: Choice["streams"]) => void;
  /** Whether the process has written to both. */
  hasErrors: boolean;
}

/** More processes than these are in a list. */
const BUTTONS = 4;
const STREAMS = { both: "Both", stdout: "stdout", stderr: "stderr" } as const;

/** Which process, which of its streams, or which other file. */
export function Choices({ names, file, shown, onFile, streams, onStreams, hasErrors }: Props) {
  const processes = names.filter((name) => name.startsWith("stdout")).toSorted(ORDER.compare);
  const twins = new Set(processes.map((name) => name.replace("stdout", "stderr")));
  const others = names.filter((name) => !name.startsWith("stdout") && !twins.has(name)).toSorted(ORDER.compare);
  const chosen = file || shown;
  return (
    <>
      {processes.length > 1 && processes.length <= BUTTONS && (
        <span class="seg" role="group" aria-label="Process">
          {processes.map((name) => (
            <button key={name} type="button" aria-pressed={name === chosen} onClick={() => onFile(name)}>
              {labelOf(name)}
            </button>
          ))}
        </span>
      )}
      {processes.length > BUTTONS && <Names label="Process" names={processes} chosen={chosen} onFile={onFile} />}
      {hasErrors && (
        <span class="seg" role="group" aria-label="Streams">
          {(Object.keys(STREAMS) as Choice["streams"][]).map((one) => (
            <button key={one} type="button" aria-pressed={one === streams} onClick={() => onStreams(one)}>
              {STREAMS[one]}
            </button>
          ))}
        </span>
      )}
      {others.length > 0 && processes.length + others.length > 1 && <Names label="Other files" names={others} chosen={chosen} onFile={onFile} isOptional />}
    </>
  );
}

interface NamesProps {
  label: string;
  names: readonly string[];
  chosen: string;
  onFile: (file: string) => void;
  /** Whether none of them may be chosen. */
  isOptional?: boolean;
}

function Names({ label, names, chosen, onFile, isOptional = false }: NamesProps) {
  return (
    <label>
      <span class="hidden">{label}</span>
      <select value={names.includes(chosen) ? chosen : ""} onChange={(event) => onFile(event.currentTarget.value)}>
        {isOptional && <option value="">{label}</option>}
        {names.map((name) => (
          <option key={name} value={name}>
            {name.startsWith("stdout") ? labelOf(name) : name}
          </option>
        ))}
      </select>
    </label>
  );
}

const ORDER = new Intl.Collator("en", { numeric: true });

function labelOf(name: string): string {
  const rank = /^stdout-(?:wk-)?(\d+)\.txt$/.exec(name)?.[1];
  if (rank !== undefined) return `rank ${rank}`;
  return name === "stdout.txt" ? "output" : name;
}
