/** The text of a field, kept in the tab until it is sent: a token may expire before. */
import { useState } from "preact/hooks";

/** The text of a field, and how to change it; the first text again forgets it. */
export function useTyped(field: string, first = ""): [string, (text: string) => void] {
  const place = `slipway-typed-${field}`;
  const [text, setText] = useState(() => sessionStorage.getItem(place) ?? first);
  const change = (value: string) => {
    setText(value);
    try {
      if (value === first) sessionStorage.removeItem(place);
      else sessionStorage.setItem(place, value);
    } catch {
      sessionStorage.removeItem(place); // too large for the tab's storage
    }
  };
  return [text, change];
}
