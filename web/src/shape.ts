/** The members that a view needs: JSON of another shape is refused before it is drawn, and the earlier view stays. */

/** A text, any list, an object with these members, or a list of such. */
export type Shape = "text" | "list" | { readonly [name: string]: Shape } | readonly [Shape];

/** What every view of a job shows of it. */
export const JOB = { id: "text", name: "text", state: "text", createdAt: "text" } as const satisfies Shape;
export const JOBS = { jobs: [JOB] } as const satisfies Shape;

/** The value, if it has this shape. Throws TypeError. */
export function checked<T>(value: unknown, shape: Shape, place = "the answer"): T {
  if (shape === "text") fit(typeof value === "string", place);
  else if (shape === "list" || isList(shape)) {
    fit(Array.isArray(value), place);
    if (isList(shape)) value.forEach((one, index) => checked(one, shape[0], `${place}[${index}]`));
  } else {
    fit(typeof value === "object" && value !== null && !Array.isArray(value), place);
    for (const [name, inner] of Object.entries(shape)) checked((value as Record<string, unknown>)[name], inner, `${place}.${name}`);
  }
  return value as T;
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

function fit(fits: boolean, place: string): asserts fits {
  if (!fits) throw new TypeError(`${place} has another shape`);
}
