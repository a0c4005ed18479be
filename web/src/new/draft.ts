/** The text of the writer, kept in the tab: a token may expire, or the writer may visit another view, before it is submitted. */
const PLACE = "slipway-draft";

interface Draft {
  /** The job that it began with; "" for none. */
  from: string;
  text: string;
}

/** What was written before, by the job that it began with. */
export function draftOf(from: string | undefined): string | undefined {
  const stored = sessionStorage.getItem(PLACE);
  const draft: Draft | null = stored === null ? null : JSON.parse(stored);
  return draft?.from === (from ?? "") ? draft.text : undefined;
}

export function keepDraft(from: string | undefined, text: string): void {
  try {
    sessionStorage.setItem(PLACE, JSON.stringify({ from: from ?? "", text } satisfies Draft));
  } catch {
    forgetDraft(); // too large for the tab's storage: a part of it would be worth less than nothing
  }
}

export function forgetDraft(): void {
  sessionStorage.removeItem(PLACE);
}
