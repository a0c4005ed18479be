/** A question about something that cannot be taken back. Escape, and the first button, leave everything as it is. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  /** The words of the button that does it; undefined while it cannot be done. */
  yes: string | undefined;
  isBusy: boolean;
  onYes: () => void;
  onNo: () => void;
  children: ComponentChildren;
}

export function Confirm({ title, yes, isBusy, onYes, onNo, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class="confirm" aria-labelledby="question" onCancel={onNo}>
      <h2 id="question">{title}</h2>
      <div class="body">{children}</div>
      <div class="actions">
        <button type="button" data-focus onClick={onNo}>
          No
        </button>
        {yes !== undefined && (
          <button type="button" class="danger" aria-disabled={isBusy} onClick={onYes}>
            {yes}
          </button>
        )}
      </div>
    </dialog>
  );
}
