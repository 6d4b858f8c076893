import next from "next";
import { servePages } from "@/lib/http/pages-server";

/**
 * Runs Next in its own process behind server.ts. Rendering enables asynchronous context tracking
 * for the whole process, which makes every promise slower from then on: in a shared process the API
 * lost a quarter of its throughput after the first page.
 */
const main = async (): Promise<void> => {
  const socketPath = process.argv[2];
  if (socketPath === undefined)
    throw new Error("server.ts starts the pages; they do not run alone.");
  const app = next({ dev: false, dir: process.cwd() });
  await app.prepare();
  const handle = app.getRequestHandler();
  servePages(socketPath, (incoming, outgoing) => void handle(incoming, outgoing));
};

// The parent process may end while Next is still starting.
process.on("disconnect", () => process.exit(0));

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : "Next did not start."}\n`);
  process.exit(1);
});
