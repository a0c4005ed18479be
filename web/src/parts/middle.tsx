import "./middle.css";

/** A long name without its middle, as its end is what differs most: never less than its last characters. */
const TAIL = 12;
/** Texts that read in one direction, letter by letter; others are cut at their end. */
const PLAIN = /^[\x21-\x7e]{25,}$/;

/** The text in a line that is as short as it has to be; what contains it has the whole as its tooltip. */
export function Middle({ text }: { text: string }) {
  if (!PLAIN.test(text)) {
    return (
      <span class="middle">
        <span class="cut">{text}</span>
      </span>
    );
  }
  return (
    <span class="middle">
      <span class="cut">{text.slice(0, -TAIL)}</span>
      <span>{text.slice(-TAIL)}</span>
    </span>
  );
}
