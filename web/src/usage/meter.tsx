/** Parts of a whole as a bar: what is used, then what is reserved. What stands beside it says the same. */
export function Meter({ used, reserved, most }: { used: number; reserved: number; most: number }) {
  const whole = Math.max(most, used + reserved) || 1;
  const part = (number: number) => (100 * Math.max(0, number)) / whole;
  return (
    <svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="f-hair" width="100" height="6" />
      {used > 0 && <rect class="f-run" width={part(used)} height="6" />}
      {reserved > 0 && <rect class="f-wait" x={part(used)} width={part(reserved)} height="6" />}
    </svg>
  );
}
