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

/** An editor for a job.json: CodeMirror once it is loaded, a plain field if it cannot be loaded. */
export function JsonEditor({ text, version, label, checked, findings, onChange }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor>();
  const [isPlain, fall] = useState(false);
  const latest = useRef({ text, version, onChange });
  latest.current = { text, version, onChange };
  /** The version of the text in the editor. */
  const own = useRef(version);
  useEffect(() => {
    let instance: Editor | undefined;
    let isGone = false;
    import("./codemirror").then(
      ({ createEditor }) => {
        if (isGone || place.current === null) return;
        own.current = latest.current.version;
        instance = createEditor({
          place: place.current,
          text: latest.current.text,
          label,
          onChange: (value) => latest.current.onChange(value),
        });
        setEditor(instance);
      },
      () => fall(true),
    );
    return () => {
      isGone = true;
      instance?.destroy();
    };
  }, []);
  useEffect(() => {
    // What was typed since the editor was made stays.
    if (editor === undefined || own.current === version) return;
    own.current = version;
    editor.put(text);
  }, [editor, version]);
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
