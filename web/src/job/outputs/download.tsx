import { useEffect, useRef, useState } from "preact/hooks";
import { PATIENCE } from "../../api";
import { size } from "../../format";
import { Outcome, useDeed } from "../../parts/deed";
import { saveAll } from "./bundle";
import { saveFile, type WrittenFile } from "./save";

interface Props {
  file: WrittenFile;
  /** Its bytes, as the list of files says. */
  size?: number | undefined;
  /** Whether the job may write more at its end. */
  grows?: boolean;
  /** The text that a screen reader reads after "Download". */
  name?: string;
  /** The text that everyone reads after it. */
  shown?: string;
}

/** Saves all that an attempt of a job wrote as one file. */
export function DownloadAll({ id, attempt }: { id: string; attempt: string }) {
  const [progress, setProgress] = useState("");
  const deed = useDeed(PATIENCE.GET);
  const isHere = useRef(true);
  useEffect(() => () => void (isHere.current = false), []);
  const save = () =>
    deed.click(async () => {
      setProgress("");
      await saveAll(id, attempt, (read, all) => isHere.current && setProgress(`${size(read)} of ${size(all)}`));
    });
  return (
    <span class="actions">
      <button type="button" aria-disabled={deed.isBusy} onClick={() => void save()}>
        Download all as one file
      </button>
      <Outcome deed={deed} progress={progress} />
    </span>
  );
}

/** Saves a file without a time limit; shows the progress, and why it failed. */
export function Download({ file, size: listed, grows = false, name, shown }: Props) {
  const [progress, setProgress] = useState("");
  const deed = useDeed(PATIENCE.GET);
  const isHere = useRef(true);
  useEffect(() => () => void (isHere.current = false), []);
  const save = () =>
    deed.click(async () => {
      setProgress("");
      const onPart = (read: number, all?: number) => isHere.current && setProgress(all === undefined ? size(read) : `${size(read)} of ${size(all)}`);
      await saveFile(file, { grows, onPart, size: listed });
    });
  return (
    <>
      <button type="button" aria-disabled={deed.isBusy} onClick={() => void save()}>
        Download{shown ? ` ${shown}` : name && <span class="hidden"> {name}</span>}
      </button>
      <Outcome deed={deed} progress={progress} />
    </>
  );
}
