// Loaded into Azurite before it starts (node --import). Its account key is public, and it looks
// neither at Host nor at Origin: any web page could put a job into a queue. The rules are those of border.py.
import http from "node:http";
import { isIPv6 } from "node:net";

const names = new Set(new URL(import.meta.url).searchParams.getAll("name"));
const authority = /^(\[[0-9a-f:.]+\]|[^\][:/@\s]+)(?::[0-9]*)?$/i;
const remedy = "use a loopback address, or allow the name of a forwarded port with --allow-host NAME";

function isOurs(text) {
  const name = authority.exec(text)?.[1].toLowerCase().replace(/\.$/, "") ?? "";
  if (name === "localhost" || name.endsWith(".localhost") || names.has(name)) return true;
  if (/^127(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(name)) return true;
  const inner = name.startsWith("[") ? name.slice(1, -1) : "";
  return isIPv6(inner) && new URL(`http://[${inner}]/`).hostname === "[::1]";
}

function isOurPage(origin) {
  const found = /^https?:\/\/(.*)$/i.exec(origin);
  return found !== null && isOurs(found[1]);
}

function foreign({ method, headersDistinct: { host = [""], origin, ...other } }) {
  const name = host.find((one) => !isOurs(one));
  if (name !== undefined) return `'${name.slice(0, 100)}' is no name of this machine`;
  const page = origin?.find((one) => !isOurPage(one));
  if (page !== undefined) return `a page of '${page.slice(0, 100)}', not of this machine, sent this request`;
  if (origin) return null;
  const opened = ["GET", "HEAD"].includes(method) && other["sec-fetch-mode"]?.[0] === "navigate";
  const crossing = other["sec-fetch-site"]?.[0] === "cross-site" && !opened;
  return crossing ? "a page of another site sent this request (Sec-Fetch-Site)" : null;
}

const emit = http.Server.prototype.emit;
http.Server.prototype.emit = function (event, request, response) {
  const detail = event === "request" ? foreign(request) : null;
  if (detail === null) return emit.apply(this, arguments);
  request.resume();
  response.writeHead(403, { "Content-Type": "application/problem+json" });
  response.end(JSON.stringify({ type: "about:blank", title: "Not allowed", status: 403, detail, remedy }));
  return true;
};

// It ends when its parent has died without stopping it; `unref` lets it end by itself as well.
process.stdin
  .on("end", () => {
    process.kill(process.pid, "SIGTERM");
    setTimeout(() => process.exit(1), 2000);
  })
  .resume();
process.stdin.unref();
