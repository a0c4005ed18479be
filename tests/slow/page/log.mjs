// Reads logs (JSON, on standard input) as parts of standard output ("o:…") and of standard error ("e:…"), in the
// order in which they come, and prints the lines that the page shows of each. Bundled as for the page.
import { build } from "vite";

const source = `export { Tails } from "/src/job/log/tail"; export { Lines, Order } from "/src/job/log/lines";`;
const made = await build({
  configFile: false,
  logLevel: "silent",
  plugins: [
    {
      name: "entry",
      resolveId: (id) => (id.endsWith("/entry-of-test") ? "\0entry" : undefined),
      load: (id) => (id === "\0entry" ? source : undefined),
    },
  ],
  build: { write: false, minify: false, lib: { entry: "entry-of-test", formats: ["es"], fileName: "page" } },
});
const [{ code }] = [made].flat()[0].output;
Object.assign(globalThis, { window: globalThis, document: { baseURI: "https://slipway.example/api/ui/" } });
const { Tails, Order } = await import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);

let text = "";
for await (const piece of process.stdin) text += piece;
const encoder = new TextEncoder();
const answers = JSON.parse(text).map((parts) => {
  const tails = new Tails("j_1", ["stdout.txt", "stderr.txt"], "", new Order());
  for (const part of parts) tails.all[part.startsWith("e:") ? 1 : 0].lines.append(encoder.encode(part.slice(2)));
  const whole = tails.blocks.flatMap(({ block, isError }) => block.lines.map((line) => [isError, line]));
  return [...whole, ...tails.all.flatMap(({ lines, isError }) => (lines.last ? [[isError, lines.last]] : []))];
});
console.log(JSON.stringify(answers));
