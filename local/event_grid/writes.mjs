// Loaded into Azurite (node --import), which raises no events: one line for each blob that was written.
import http from "node:http";

function api(query, headers) {
  if (query.has("restype")) return null;
  if (query.has("comp")) return query.get("comp") === "blocklist" ? "PutBlockList" : null;
  if (headers["x-ms-blob-type"]) return "PutBlob";
  return headers["x-ms-copy-source"] ? "CopyBlob" : null;
}

function report(request, response, path, name) {
  if (![201, 202].includes(response.statusCode)) return;
  const headers = request.headers;
  const written = {
    api: name,
    url: `http://${headers.host}${path}`,
    clientRequestId: headers["x-ms-client-request-id"] ?? "",
    requestId: String(response.getHeader("x-ms-request-id") ?? ""),
    eTag: String(response.getHeader("etag") ?? "").replaceAll('"', ""),
    contentType: headers["x-ms-blob-content-type"] ?? headers["content-type"] ?? "application/octet-stream",
    blobType: headers["x-ms-blob-type"] ?? "BlockBlob",
  };
  // What a list of blocks or a copy comes to, the request does not say.
  if (name === "PutBlob") written.contentLength = Number(headers["content-length"] ?? 0);
  process.stdout.write(`written ${JSON.stringify(written)}\n`);
}

const emit = http.Server.prototype.emit;
http.Server.prototype.emit = function (event, request, response) {
  if (event === "request" && request.method === "PUT") {
    const [path, ...query] = request.url.split("?");
    const name = api(new URLSearchParams(query.join("?")), request.headers);
    if (name) response.on("finish", () => report(request, response, path, name));
  }
  return emit.apply(this, arguments);
};
