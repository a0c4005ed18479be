import { useEffect, useRef, useState } from "preact/hooks";
import type { Finding } from "../answers";
import type { Editor } from "./codemirror";

interface Props {
  text: string;
  /** Another number means that the text is not what the writer typed, and has to be put into the editor. */
  version: number;
  label: string;
  /** The text that the findings are of. */
  checked: string | undefined;
  findings: readonly Finding[];
  onChange: (text: string) => void;
}

/** An editor for a job.json: CodeMirror once it has come, a plain field where it cannot be loaded. */
export function JsonEditor({ text, version, label, checked, findings, onChange }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor>();
  const [isPlain, fall] = useState(false);
  const latest = useRef({ text, onChange });
  latest.current = { text, onChange };
  useEffect(() => {
    let own: Editor | undefined;
    let isGone = false;
    import("./codemirror").then(
      ({ createEditor }) => {
        if (isGone || place.current === null) return;
        own = createEditor({
          place: place.current,
          text: latest.current.text,
          label,
          onChange: (value) => latest.current.onChange(value),
        });
        setEditor(own);
      },
      () => fall(true),
    );
    return () => {
      isGone = true;
      own?.destroy();
    };
  }, []);
  useEffect(() => editor?.put(text), [editor, version]);
  useEffect(() => editor?.show(findings, checked), [editor, findings, checked === text]);
  if (isPlain) {
    return <textarea aria-label={label} rows={18} spellcheck={false} value={text} onInput={(event) => onChange(event.currentTarget.value)} />;
  }
  return (
    <>
      {editor === undefined && <p role="status">Loading the editor…</p>}
      <div class="editor" ref={place} />
    </>
  );
}
