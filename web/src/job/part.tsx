import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

interface Props {
  id: string;
  title: string;
  /** Whether the address leads to it. */
  isAddressed: boolean;
  children: () => ComponentChildren;
}

/** A part of a job that is read once it is opened, by a click or by its address. */
export function Part({ id, title, isAddressed, children }: Props) {
  const [isOpen, open] = useState(isAddressed);
  useEffect(() => {
    if (isAddressed) open(true);
  }, [isAddressed]);
  return (
    <section class="panel part-panel" aria-labelledby={id}>
      <details open={isOpen} onToggle={(event) => open(event.currentTarget.open)}>
        <summary>
          <h2 id={id}>{title}</h2>
        </summary>
        {isOpen && <div class="inside">{children()}</div>}
      </details>
    </section>
  );
}
