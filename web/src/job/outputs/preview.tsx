import { useEffect, useState } from "preact/hooks";
import { withCodes } from "../../format";
import { Reading, useReading } from "../../parts/reading";
import { readStart, type WrittenFile } from "./save";
import { Table } from "./table";

/** Bytes that are read of a text, and of an image. */
const TEXT = 64 << 10;
const IMAGE = 8 << 20;
/** An SVG is not an image here: it is a document, and shown as its text. */
const IMAGES = new Map(Object.entries({ png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp" }));

interface Props {
  file: WrittenFile;
  /** Its bytes, as the list of files says. */
  size: number;
}

/** The beginning of a file that a job wrote: an image, a table, or text. Nothing in it is ever run. */
export function Preview({ file, size }: Props) {
  const { id, directory, path, attempt = "" } = file;
  const extension = path.split(".").at(-1)?.toLowerCase() ?? "";
  const image = IMAGES.get(extension);
  const reading = useReading([id, attempt, directory, path].join("/"), (signal) => readStart(file, image ? IMAGE : TEXT, size, signal));
  const [isBroken, setBroken] = useState(false);
  const { value: data } = reading;
  if (data === undefined) return <Reading of={reading} />;
  if (data.length === 0) return <p class="quiet">The file is empty.</p>;
  if (image && !isBroken) return <Picture data={data} type={image} name={path} onBroken={() => setBroken(true)} />;
  const beginning = data.subarray(0, TEXT);
  const broken = isBroken && <p role="status">This is not an image of the kind that its name says, or only a part of one.</p>;
  if (beginning.includes(0)) return broken || <p class="quiet">This is not text; download it.</p>;
  const text = withCodes(new TextDecoder().decode(beginning));
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

/** The parts of a JSON text: strings, punctuation, and other words. */
const PART = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

/** The same text with a line for each member; its numbers and names stay as they were written. */
function indented(text: string): string {
  if (depth(text) > DEEPEST || !isJson(text)) return text;
  let [result, line, before] = ["", "\n", ""];
  for (const part of text.match(PART) ?? []) {
    const closes = part === "]" || part === "}";
    if (closes) line = line.slice(0, -2);
    const isEmpty = closes && OPENS.has(before);
    if (!isEmpty && (closes || before === "," || OPENS.has(before))) result += line;
    result += part === ":" ? ": " : part;
    if (OPENS.has(part)) line += "  ";
    before = part;
  }
  return result;
}

const OPENS = new Set(["[", "{"]);

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
