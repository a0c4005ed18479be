/** The example of the repository, digits, which is part of the page. */
import document from "../../../examples/digits/job.json?raw";
import script from "../../../examples/digits/train.py?raw";
import { composed } from "./compose";

export const NAME = "digits";

/** The text to submit. */
export function example(): Promise<string> {
  const file = (path: string, text: string) => ({ path, data: new TextEncoder().encode(text) });
  return composed({ name: NAME, files: [file("job.json", document), file("train.py", script)] });
}
