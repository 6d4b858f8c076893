import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import next from "next";

/**
 * Next alone, in a process of its own behind server.ts. Rendering turns on the asynchronous context tracking of the whole process,
 * which makes every promise dearer from then on: beside it the API lost a quarter of its throughput with the first page.
 */
const main = async (): Promise<void> => {
  const app = next({ dev: false, dir: process.cwd() });
  await app.prepare();
  const handle = app.getRequestHandler();
  const server = createServer((incoming, outgoing) => void handle(incoming, outgoing));
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => {
    process.send?.({ type: "pages", port: (server.address() as AddressInfo).port });
  });
};

// Without the server in front there is nobody to answer.
process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches the whole group; the server decides when its pages end.
process.on("SIGINT", () => undefined);

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : "Next did not start."}\n`);
  process.exit(1);
});
