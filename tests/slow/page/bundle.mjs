// Bundles modules of the page, as for the page, for a program that runs here with as much of a browser as they touch.
import { build } from "vite";

/** What `source` exports of modules of the page; `globals` are of the browser, beside its window and document. */
async function bundled(source, globals = {}) {
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
  const document = { baseURI: "https://slipway.example/api/ui/" };
  Object.assign(globalThis, { window: globalThis, document, localStorage: { getItem: () => null }, BroadcastChannel: Tabs, ...globals });
  return import(`data:text/javascript;base64,${Buffer.from(code).toString("base64")}`);
}

/** Tabs of which this one is the only: a real channel would keep the program from its end. */
class Tabs {
  postMessage() {}
  addEventListener() {}
}

/** The value on standard input. */
async function readInput() {
  let text = "";
  for await (const piece of process.stdin) text += piece;
  return JSON.parse(text);
}
