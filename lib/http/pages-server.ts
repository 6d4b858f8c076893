import { rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { dirname } from "node:path";

const KEEP_ALIVE_MS = 60_000;

/** Message to the parent when the pages can answer. */
export const PAGES_READY = "pages-ready";

/**
 * Serves pages to the parent process alone, on a Unix socket in a folder that only this user may enter. `OPTIONS *` is the parent's
 * question whether this process still answers; it is answered with the bytes of memory in use, and cannot come from outside because
 * the parent passes on no target but paths.
 * @param socketPath made by the parent, its last argument for this process
 */
export const servePages = (
  socketPath: string,
  handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): void => {
  const server = createServer((incoming, outgoing) => {
    if (incoming.url === "*") outgoing.end(String(process.memoryUsage().rss));
    else handle(incoming, outgoing);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(socketPath, () => process.send?.({ type: PAGES_READY }));
  // Without the parent no request can arrive, and no other process removes the socket.
  process.on("disconnect", () => {
    rmSync(dirname(socketPath), { recursive: true, force: true });
    process.exit(0);
  });
  // Ctrl-C reaches the whole group; the server decides when its pages end.
  process.on("SIGINT", () => undefined);
};
