import { useEffect, useRef, useState } from "preact/hooks";

const STATES = ["active", "accepted", "submitting", "queued", "running", "succeeded", "failed", "cancelled", "lost", "rejected"];
const SOURCES = ["drop", "inventory", "http", "queue", "rerun"];
const TEXTS = [
  ["name", "Name begins with"],
  ["experiment", "Experiment"],
  ["cluster", "Cluster"],
  ["label", "Label"],
  ["owner", "Who"],
  ["team", "Team"],
] as const;
const PERIODS = [
  ["", "any time"],
  ["1h", "the last hour"],
  ["1d", "the last day"],
  ["1w", "the last week"],
] as const;
/** Milliseconds after the last key. */
const PAUSE = 300;

export type Filters = Record<string, string>;
export const FILTERS: readonly string[] = ["state", "source", "since", "sweep", "contains", ...TEXTS.map(([name]) => name)];

/** The query of the API for what the reader chose. */
export function apiQuery(filters: Filters): Filters {
  const query: Filters = {};
  for (const name of FILTERS) if (filters[name]) query[name] = filters[name];
  if (query["name"] && !query["name"].endsWith("*")) query["name"] += "*";
  return query;
}

interface Props {
  filters: Filters;
  /** Gets the changed filters; an empty text removes a filter. */
  onChange: (change: Filters) => void;
}

export function FilterBar({ filters, onChange }: Props) {
  const [round, setRound] = useState(0);
  const choose = (name: string) => (event: { currentTarget: HTMLSelectElement }) => onChange({ [name]: event.currentTarget.value });
  const clear = () => {
    setRound(round + 1); // other fields: pending text of these is dropped
    onChange(Object.fromEntries(FILTERS.map((name) => [name, ""])));
  };
  return (
    <form class="filters" role="search" aria-label="Filter jobs" onSubmit={(event) => event.preventDefault()}>
      <label>
        State
        <select value={filters["state"] ?? ""} onChange={choose("state")}>
          <option value="">all</option>
          {STATES.map((state) => (
            <option key={state}>{state}</option>
          ))}
        </select>
      </label>
      {TEXTS.map(([name, label]) => (
        <TextFilter key={`${name} ${round}`} name={name} label={label} filters={filters} onChange={onChange} />
      ))}
      <label>
        Arrived by
        <select value={filters["source"] ?? ""} onChange={choose("source")}>
          <option value="">any way</option>
          {SOURCES.map((source) => (
            <option key={source}>{source}</option>
          ))}
        </select>
      </label>
      <label>
        Created in
        <select value={filters["since"] ?? ""} onChange={choose("since")}>
          {PERIODS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {Object.keys(apiQuery(filters)).length > 0 && (
        <button type="button" onClick={clear}>
          Clear
        </button>
      )}
    </form>
  );
}

function TextFilter({ name, label, filters, onChange }: Props & { name: string; label: string }) {
  const [text, setText] = useState(filters[name] ?? "");
  const timer = useRef<number | undefined>(undefined);
  // What was typed here comes back without its spaces at the ends, and later than the next key.
  const own = useRef(filters[name] ?? "");
  useEffect(() => {
    const now = filters[name] ?? "";
    if (now !== own.current) setText((own.current = now));
  }, [filters[name]]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const typed = (value: string) => {
    setText(value);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => onChange({ [name]: (own.current = value.trim()) }), PAUSE);
  };
  return (
    <label>
      {label}
      <input type="search" id={`filter-${name}`} value={text} onInput={(event) => typed(event.currentTarget.value)} />
    </label>
  );
}
