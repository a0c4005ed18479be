import { useMemo } from "preact/hooks";
import { call, json } from "../api";
import { ApiError } from "../apierror";
import { Outcome, useDeed } from "../parts/deed";
import { Refusal } from "../parts/parts";
import { useTyped } from "../parts/typed";
import { LATEST, usePoll } from "../poll";
import { useRights } from "../rights";

type Words = Record<string, unknown>;
const SHOWN = ["storage", "clusters", "sweeper", "settings", "unreadable", "parked"];

/** Each part with one word, and the pause; a deployment with a problem answers 503 with the same words. */
export function Health() {
  const read = useMemo(reader, []);
  const polled = usePoll("health", read, { latest: 4 * LATEST });
  const [reason, setReason] = useTyped("reason");
  const deed = useDeed();
  const words = polled.value?.words;
  const { isAdmin } = useRights();
  const isPaused = words?.["paused"] === true;
  const off = Array.isArray(words?.["off"]) ? words["off"].map(String) : [];
  const toggle = () =>
    deed.click(async () => {
      if (isPaused) await call("resume", { method: "POST" });
      else await call("pause", { method: "POST", query: { reason } });
      setReason("");
      polled.again();
    });
  return (
    <section aria-labelledby="health">
      <h2 id="health">Health</h2>
      <Refusal error={polled.error} readAt={polled.readAt} />
      {words && (
        <dl class="facts">
          {SHOWN.filter((name) => words[name] !== undefined).map((name) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{shown(words[name])}</dd>
            </div>
          ))}
          {off.length > 0 && (
            <div>
              <dt>functions off</dt>
              <dd>{off.join(", ")}</dd>
            </div>
          )}
          <div>
            <dt>submissions</dt>
            <dd>{isPaused ? "paused" : "go on"}</dd>
          </div>
        </dl>
      )}
      {isAdmin && (
        <div class="filters">
          {!isPaused && (
            <label>
              Reason for a pause
              <input value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
            </label>
          )}
          <button type="button" disabled={words === undefined} aria-disabled={deed.isBusy} onClick={() => void toggle()}>
            {isPaused ? "Resume submissions" : "Pause submissions"}
          </button>
        </div>
      )}
      <Outcome deed={deed} />
    </section>
  );
}

/** A word, a number, or numbers by words: "12 ok, 1 does not answer". */
function shown(part: unknown): string {
  if (typeof part !== "object" || part === null) return String(part);
  return Object.entries(part).map(([word, number]) => `${String(number)} ${word}`).join(", ") || "none";
}

interface Shown {
  text: string;
  words: Words;
}

/** Reads the words; the same object as long as they are the same. */
function reader(): (signal: AbortSignal) => Promise<Shown> {
  let last: Shown | undefined;
  return async (signal) => {
    const words = await wordsNow(signal);
    const text = JSON.stringify(words);
    if (last?.text !== text) last = { text, words };
    return last;
  };
}

async function wordsNow(signal: AbortSignal): Promise<Words> {
  try {
    return await json<Words>("health", { shape: { storage: "text" }, signal });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 503 || !("storage" in error.problem)) throw error;
    return error.problem;
  }
}
