import { Search as Glass, X } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { withCodes } from "../../format";
import { isTyping } from "../../header/keys";
import { Icon } from "../../parts/icon";
import { changeQuery, link, type Route } from "../../route";
import { added, type Filters, pieceOf, searchOf, type Token, tokensOf, typed } from "./keys";
import { type Offer, offersFor, useValues } from "./offers";
import "./search.css";

/** Milliseconds after the last key. */
const PAUSE = 300;

/** The search for jobs, in every view: words and tokens, which are the address of the list. */
export function Search({ route }: { route: Route }) {
  const isList = route.steps.length === 1 && route.steps[0] === "jobs";
  const [elsewhere, setElsewhere] = useState<Filters>({});
  useEffect(() => setElsewhere({}), [isList]);
  const search = isList ? searchOf(route.query) : elsewhere;
  useSlash();
  const change = (members: Filters) => {
    if (isList) changeQuery(route, members);
    else setElsewhere((before) => ({ ...before, ...members }));
  };
  const show = (members: Filters) => {
    if (isList) changeQuery(route, members);
    else location.hash = link(["jobs"], searchOf({ ...search, ...members }));
  };
  return <Field search={search} isList={isList} onChange={change} onShow={show} />;
}

interface FieldProps {
  search: Filters;
  isList: boolean;
  /** Changes members of the search; an empty text removes one. */
  onChange: (members: Filters) => void;
  /** The same, and leads to the list. */
  onShow: (members: Filters) => void;
}

function Field({ search, isList, onChange, onShow }: FieldProps) {
  const field = useField(search, isList, onChange);
  const { text, setText, input } = field;
  const [isOpen, open] = useState(false);
  const [at, setAt] = useState(-1);
  const { key } = pieceOf(text);
  const offers = offersFor(text, useValues(isOpen ? key : ""), new Date());
  const active = isOpen ? offers[at] : undefined;
  const tokens = tokensOf(search);
  const isShown = isOpen && offers.length > 0;

  const take = (members: Filters, rest: string, change = onChange) => {
    field.stop();
    const values = Object.entries(members).flatMap(([name, value]) => Object.entries(added(search, name, value)));
    const { members: others, words } = typed(rest, search);
    change({ ...others, ...Object.fromEntries(values), contains: words });
    setText(words && `${words} `);
    setAt(-1);
    open(false);
  };
  const pick = (offer: Offer) => {
    const { before } = pieceOf(text);
    if (offer.members) take(offer.members, before);
    else {
      setText(`${before}${offer.key}:`);
      setAt(-1);
    }
    input.current?.focus();
  };
  const remove = (token: Token) => {
    onChange(Object.fromEntries(token.members.map((name) => [name, ""])));
    input.current?.focus();
  };
  const pressed = (event: KeyboardEvent) => {
    const last = tokens.at(-1);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      open(true);
      if (offers.length > 0) setAt(event.key === "ArrowDown" ? (at + 1) % offers.length : (Math.max(at, 0) - 1 + offers.length) % offers.length);
    } else if (event.key === "Enter") {
      if (active) pick(active);
      else take({}, text, onShow);
    } else if (event.key === "Escape") {
      if (isShown) open(false);
      else input.current?.blur();
    } else if (event.key === "Backspace" && last && input.current?.selectionStart === 0 && input.current.selectionEnd === 0) remove(last);
    else return;
    event.preventDefault();
  };
  const write = (value: string) => {
    open(true);
    setAt(-1);
    // A blank ends a token.
    if (/\s$/.test(value) && Object.keys(typed(value, search).members).length > 0) take({}, value);
    else field.write(value);
  };
  return (
    <form class="find" role="search" aria-label="Search jobs" onSubmit={(event) => event.preventDefault()}>
      <Icon of={Glass} />
      <div class="tokens">
        {tokens.map((token) => (
          <span key={token.key} class="token">
            <b>{token.key}:</b>
            <span class="cut" title={token.text}>{withCodes(token.text)}</span>
            <button type="button" aria-label={`Remove ${token.key}: ${token.text}`} onClick={() => remove(token)}>
              <Icon of={X} size={12} />
            </button>
          </span>
        ))}
        <input
          ref={input}
          id="search"
          role="combobox"
          aria-label="Search jobs"
          aria-expanded={isShown}
          aria-controls="offers"
          aria-autocomplete="list"
          aria-activedescendant={active ? `offer-${active.id}` : undefined}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder={tokens.length > 0 ? "" : "Search jobs: a name, an error, or state: team: since:"}
          value={text}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={pressed}
          onClick={() => open(true)}
          onBlur={() => open(false)}
        />
      </div>
      {tokens.length > 0 && (
        <button type="button" class="clear bare" aria-label="Clear the search" onClick={() => {
          field.stop();
          setText("");
          onChange(Object.fromEntries(Object.keys(search).map((name) => [name, ""])));
        }}>
          <Icon of={X} size={14} />
        </button>
      )}
      <kbd aria-hidden="true">/</kbd>
      <ul id="offers" role="listbox" aria-label="Offers" hidden={!isShown}>
        {offers.map((offer, index) => (
          <li key={offer.id} id={`offer-${offer.id}`} role="option" aria-selected={index === at} onMouseDown={(event) => event.preventDefault()} onClick={() => pick(offer)}>
            <span class="cut">{withCodes(offer.text)}</span> <span class="soft cut">{offer.note}</span>
          </li>
        ))}
      </ul>
    </form>
  );
}

/** The text of the field. Its words become a part of the list's search a moment after the last key. */
function useField(search: Filters, isList: boolean, onChange: (members: Filters) => void) {
  const words = search["contains"] ?? "";
  const [text, setText] = useState(words);
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<number | undefined>(undefined);
  // What was typed here comes back without its blanks at the ends, and later than the next key.
  const own = useRef(words);
  useEffect(() => {
    if (words !== own.current) setText((own.current = words));
  }, [words]);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const stop = () => window.clearTimeout(timer.current);
  const write = (value: string) => {
    setText(value);
    stop();
    const { before, key } = pieceOf(value);
    const { words: now } = typed(key === "" ? value : before, {});
    if (isList) timer.current = window.setTimeout(() => onChange({ contains: (own.current = now) }), PAUSE);
  };
  return {
    text,
    input,
    stop,
    write,
    setText: (value: string) => {
      own.current = typed(value, {}).words;
      setText(value);
    },
  };
}

/** The key `/` goes to the search, as on many pages. */
function useSlash(): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || isTyping(event) || document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      document.getElementById("search")?.focus();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}
