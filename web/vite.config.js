import { defineConfig } from "vite";

/** The document names the font of the first words, so that it comes with the styles and not after them. */
const earlyFont = {
  name: "early-font",
  transformIndexHtml: {
    order: "post",
    handler(_, { bundle }) {
      const file = Object.keys(bundle ?? {}).find((name) => /\/inter-.*\.woff2$/.test(name));
      if (file === undefined) return [];
      return [{ tag: "link", attrs: { rel: "preload", href: `./${file}`, as: "font", type: "font/woff2", crossorigin: true }, injectTo: "head" }];
    },
  },
};

// Addresses are relative, so that the page works under any path. Nothing is inlined: the policy of the page
// allows no inline script, style or data address. What several views need is one file.
export default defineConfig({
  base: "./",
  plugins: [earlyFont],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: "page", test: /node_modules.preact|web.src.(?!main)[\w.]+$|web.src.parts.(?!chart)|vite.preload-helper/ },
            { name: "oauth", test: /node_modules.oauth4webapi/ },
          ],
        },
      },
    },
  },
});
