import { defineConfig } from "vite";

// Addresses are relative, so that the page works under any path. Nothing is inlined: the policy of the page
// allows no inline script, style or data address.
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
});
