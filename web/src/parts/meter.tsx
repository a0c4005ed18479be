/** Small bars. What they say stands beside them as text, so they have no words of their own. */
import type { Meaning } from "./icon";

export interface Part {
  /** The state whose colour it has; "hair" for what is free. */
  of: Meaning | "hair";
  amount: number;
}

/** Percent of the width between two parts, and of the smallest part. */
const [GAP, LEAST] = [0.6, 1.2];

/** The parts of a whole beside each other; those without an amount are left out. */
export function Meter({ parts, whole }: { parts: readonly Part[]; whole?: number }) {
  const shown = parts.filter(({ amount }) => amount > 0);
  const sum = shown.reduce((before, { amount }) => before + amount, 0);
  const most = Math.max(whole ?? 0, sum) || 1;
  let at = 0;
  return (
    <svg class="meter" height="6" aria-hidden="true">
      <rect class="f-hair" width="100%" height="6" rx="3" />
      {shown.map(({ of, amount }, index) => {
        const start = at;
        const width = Math.max(LEAST, (100 * amount) / most);
        at += width;
        return <rect key={index} class={`f-${of}`} x={`${start}%`} width={`${Math.max(LEAST / 2, Math.min(width, 100 - start) - (start + width < 99.9 ? GAP : 0))}%`} height="6" rx="3" />;
      })}
    </svg>
  );
}
