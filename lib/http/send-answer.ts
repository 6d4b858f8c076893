import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "./reply";

const DRAIN_MS = 2_000;

// Node would keep reading a refused upload. The caller gets a moment to read the answer, then the connection is closed.
const drain = (incoming: IncomingMessage): void => {
  if (incoming.complete || incoming.destroyed) return;
  const timer = setTimeout(() => incoming.destroy(), DRAIN_MS);
  incoming.once("close", () => clearTimeout(timer));
  incoming.resume();
};

/** Sends a whole answer. If another answer has begun, its connection is closed, so that it does not look complete. */
export const sendAnswer = (answer: Answer, incoming: IncomingMessage, outgoing: ServerResponse): void => {
  if (outgoing.destroyed) return;
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  const headers: Record<string, string | number> = answer.headers;
  if (answer.status !== 204) headers["content-length"] = Buffer.byteLength(answer.body);
  if (!incoming.complete && incoming.method !== "GET" && incoming.method !== "HEAD") {
    headers.connection = "close";
    outgoing.once("finish", () => drain(incoming));
  }
  outgoing.writeHead(answer.status, headers);
  outgoing.end(incoming.method === "HEAD" ? undefined : answer.body);
};
