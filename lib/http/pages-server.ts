import { rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { dirname } from "node:path";

const KEEP_ALIVE_MS = 60_000;

/** Message to the parent when the pages can answer. */
export const PAGES_READY = "pages-ready";

/**
 * Serves pages only to the parent process, on a Unix socket in a folder that only this user may
 * enter. The parent probes this process with `OPTIONS *`, which is answered with the memory in use
 * in bytes. Such a request cannot come from outside, because the parent passes on only paths.
 * @param socketPath chosen by the parent, which passes it as the last argument of this process
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
  // Without the parent no request can arrive, and nobody else removes the socket.
  process.on("disconnect", () => {
    rmSync(dirname(socketPath), { recursive: true, force: true });
    process.exit(0);
  });
  // Ctrl-C reaches the whole process group, but the server decides when its pages end.
  process.on("SIGINT", () => undefined);
};
