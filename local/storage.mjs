// Loaded into Azurite before it starts (node --import). Its account key is public, and it looks
// neither at Host nor at Origin: any web page could put a job into a queue. The rules are those of border.py.
import http from "node:http";
import net, { isIPv6 } from "node:net";

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

// Azure refuses names with control characters. Azurite takes them, and then lists the container with 500 for good.
function isUnnameable({ method, url }) {
  if (method !== "PUT") return false;
  try {
    return /[\0-\x1f\x7f-\x9f\ufffe\uffff]/.test(decodeURIComponent(url.split("?")[0]));
  } catch {
    return false; // no UTF-8: that is Azurite's to refuse
  }
}

function refuseName(response) {
  response.writeHead(400, { "Content-Type": "application/xml", "x-ms-error-code": "InvalidUri" });
  const message = "The name has control characters, which the names of blobs, rows and keys cannot have.";
  response.end(`<?xml version="1.0" encoding="utf-8"?><Error><Code>InvalidUri</Code><Message>${message}</Message></Error>`);
  return true;
}

const emit = http.Server.prototype.emit;
http.Server.prototype.emit = function (event, request, response) {
  const detail = event === "request" ? foreign(request) : null;
  const refused = event === "request" && detail === null && isUnnameable(request);
  if (detail === null && !refused) return emit.apply(this, arguments);
  request.resume();
  if (refused) return refuseName(response);
  response.writeHead(403, { "Content-Type": "application/problem+json" });
  response.end(JSON.stringify({ type: "about:blank", title: "Not allowed", status: 403, detail, remedy }));
  return true;
};

// Azurite writes its records to the disk every five seconds, and when it ends, which waits for connections that
// clients keep open, and for requests that are half sent: no one but it can know what it has acknowledged.
const servers = new Set();
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function () {
  servers.add(this);
  return listen.apply(this, arguments);
};
process.once("SIGTERM", () => {
  if (servers.size === 0) process.exit(0);
  const cut = () => servers.forEach((server) => server.closeAllConnections?.());
  cut();
  setInterval(cut, 50).unref();
});

// It ends when its parent has died without stopping it; `unref` lets it end by itself as well. No one reads its
// lines then, and a line that it cannot write must not end it before its records are written.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
process.stdin
  .on("end", () => {
    process.kill(process.pid, "SIGTERM");
    setTimeout(() => process.exit(1), 60_000).unref();
  })
  .resume();
process.stdin.unref();
