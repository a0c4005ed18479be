/** A hull on a slipway. */
export function Mark() {
  return (
    <svg width="24" height="24" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true">
      <path d="M2 20.5 22 14v6.5z" opacity=".38" />
      <path d="M3.5 15.2 19.8 9.9c.5 3-1 5.2-3.6 6L5 19.5c-1.2-1-1.6-2.6-1.5-4.3z" />
      <path d="M9.8 12.1 8.2 4l5.6 6.8z" />
    </svg>
  );
}
