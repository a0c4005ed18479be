import type { ComponentChildren } from "preact";

interface Props {
  /** The title's id, and how others refer to the panel. */
  id: string;
  title: ComponentChildren;
  /** How many entries there are; what the columns are. */
  count?: ComponentChildren;
  more?: ComponentChildren;
  children: ComponentChildren;
}

/** A part of the overview with its title. */
export function Panel({ id, title, count, more, children }: Props) {
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {count !== undefined && <span class="count">{count}</span>}
        {more && <span class="more">{more}</span>}
      </header>
      {children}
    </section>
  );
}
