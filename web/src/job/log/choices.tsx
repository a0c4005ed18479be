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

/** More processes than these are in a list, and those with longer names. */
const [BUTTONS, LONGEST] = [4, 16];
const STREAMS = { both: "Both", stdout: "stdout", stderr: "stderr" } as const;

/** Which process, and which of its streams. */
export function Choices({ names, file, shown, onFile, streams, onStreams, hasErrors }: Props) {
  const processes = processesOf(names);
  const chosen = file || shown;
  const isList = processes.length > BUTTONS || processes.some(([, label]) => label.length > LONGEST);
  return (
    <>
      {processes.length > 1 && !isList && (
        <span class="seg" role="group" aria-label="Process">
          {processes.map(([name, label]) => (
            <button key={name} type="button" aria-pressed={name === chosen} onClick={() => onFile(name)}>
              {label}
            </button>
          ))}
        </span>
      )}
      {processes.length > 1 && isList && (
        <label>
          <span class="hidden">Process</span>
          <select value={chosen} onChange={(event) => onFile(event.currentTarget.value)}>
            {processes.map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
      )}
      {hasErrors && (
        <span class="seg" role="group" aria-label="Streams">
          {(Object.keys(STREAMS) as Choice["streams"][]).map((one) => (
            <button key={one} type="button" aria-pressed={one === streams} onClick={() => onStreams(one)}>
              {STREAMS[one]}
            </button>
          ))}
        </span>
      )}
    </>
  );
}

const ORDER = new Intl.Collator("en", { numeric: true });

/** The file of each process, and what it is called: standard output with its errors is one, any other file is itself. */
function processesOf(names: readonly string[]): [name: string, label: string][] {
  const outputs = names.filter((name) => name.startsWith("stdout"));
  const twins = new Set(outputs.map((name) => name.replace("stdout", "stderr")));
  const others = names.filter((name) => !name.startsWith("stdout") && !twins.has(name));
  return [...outputs.toSorted(ORDER.compare).map((name): [string, string] => [name, labelOf(name)]), ...others.toSorted(ORDER.compare).map((name): [string, string] => [name, name])];
}

function labelOf(name: string): string {
  const rank = /^stdout-(?:wk-)?(\d+)\.txt$/.exec(name)?.[1];
  if (rank !== undefined) return `rank ${rank}`;
  return name === "stdout.txt" ? "job" : name;
}
