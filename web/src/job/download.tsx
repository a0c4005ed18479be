import { useEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../api";
import { size } from "../format";
import { Refusal } from "../parts/parts";
import { attempt } from "./attempt";
import { saveFile } from "./save";

interface Props {
  id: string;
  directory: string;
  path: string;
  /** Whether the job may write more at its end. */
  grows?: boolean;
  /** What a reader of the screen hears after "Download". */
  name?: string;
}

/** Saves a file, however long that takes; says how far it is, and why it failed. */
export function Download({ id, directory, path, grows = false, name }: Props) {
  const [progress, setProgress] = useState("");
  const [error, setError] = useState<ApiError>();
  const isHere = useRef(true);
  useEffect(() => () => void (isHere.current = false), []);
  const save = async () => {
    setProgress("…");
    const onPart = (read: number, all: number) => isHere.current && setProgress(`${size(read)} of ${size(all)}`);
    await attempt(setError, () => saveFile(id, directory, path, { grows, onPart }));
    setProgress("");
  };
  return (
    <>
      <button type="button" disabled={progress !== ""} onClick={() => void save()}>
        Download{name && <span class="hidden"> {name}</span>}
      </button>
      {progress && <span class="quiet">{progress}</span>}
      <Refusal error={error} />
    </>
  );
}
