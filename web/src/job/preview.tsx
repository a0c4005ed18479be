import { useEffect, useState } from "preact/hooks";
import { Outcome, useReading } from "../parts/deed";
import { readStart } from "./save";

/** Bytes that are read of a text, and of an image. */
const TEXT = 64 << 10;
const IMAGE = 8 << 20;
const ROWS = 50;
/** An SVG is no image here: it is a document, and shown as its text. */
const IMAGES = new Map(Object.entries({ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" }));

interface Props {
  id: string;
  directory: string;
  path: string;
}

/** The beginning of a file that a job wrote: an image, a table, or text. Nothing in it is ever run. */
export function Preview({ id, directory, path }: Props) {
  const extension = path.split(".").at(-1)?.toLowerCase() ?? "";
  const image = IMAGES.get(extension);
  const { value: data, reading } = useReading([id, directory, path].join("/"), (signal) => readStart(id, directory, path, image ? IMAGE : TEXT, signal));
  const [isBroken, setBroken] = useState(false);
  if (reading.error?.status === 416) return <p class="quiet">The file is empty.</p>;
  if (data === undefined) return <Outcome deed={reading} doing="Loading…" />;
  if (image && !isBroken) return <Picture data={data} type={image} name={path} onBroken={() => setBroken(true)} />;
  const beginning = data.subarray(0, TEXT);
  const broken = isBroken && <p role="status">This is no image of the kind that its name says, or only a part of one.</p>;
  if (beginning.includes(0)) return broken || <p class="quiet">This is no text; download it.</p>;
  const text = new TextDecoder().decode(beginning);
  const isCut = data.length >= TEXT;
  return (
    <>
      {broken}
      {extension === "csv" ? <Table text={text} /> : <pre class="preview" tabIndex={0}>{extension === "json" && !isCut ? indented(text) : text}</pre>}
      {isCut && <p class="quiet">Only the first 64 KiB are shown.</p>}
    </>
  );
}

interface PictureProps {
  data: Uint8Array<ArrayBuffer>;
  type: string;
  name: string;
  onBroken: () => void;
}

function Picture({ data, type, name, onBroken }: PictureProps) {
  const [address, setAddress] = useState<string>();
  useEffect(() => {
    const url = URL.createObjectURL(new Blob([data], { type }));
    setAddress(url);
    return () => URL.revokeObjectURL(url);
  }, [data]);
  return address === undefined ? null : <img class="preview" src={address} alt={name} onError={onBroken} />;
}

function Table({ text }: { text: string }) {
  const rows = rowsOf(text);
  return (
    <div class="preview" tabIndex={0} role="region" aria-label="First rows">
      <table>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const CELL = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g;

/** The first rows of a CSV. A cell in quotes may have commas, line ends, and quotes, which are doubled. */
function rowsOf(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain = "", end] of text.trimEnd().matchAll(CELL)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === ",") continue;
    rows.push(row);
    row = [];
    if (rows.length === ROWS || end === "") break;
  }
  return rows;
}

/** Brackets within each other: an indented text grows with their square. */
const DEEPEST = 40;

function depth(text: string): number {
  let [now, most] = [0, 0];
  for (const character of text) {
    if (character === "[" || character === "{") most = Math.max(most, (now += 1));
    else if (character === "]" || character === "}") now -= 1;
  }
  return most;
}

function indented(text: string): string {
  if (depth(text) > DEEPEST) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
