import next from "next";
import { servePages } from "@/lib/http/pages-server";

/**
 * Next alone, in a process of its own behind server.ts. Rendering turns on the asynchronous context tracking of the whole process,
 * which makes every promise dearer from then on: beside it the API lost a quarter of its throughput with the first page.
 */
const main = async (): Promise<void> => {
  const socketPath = process.argv[2];
  if (socketPath === undefined) throw new Error("server.ts starts the pages; they do not run alone.");
  const app = next({ dev: false, dir: process.cwd() });
  await app.prepare();
  const handle = app.getRequestHandler();
  servePages(socketPath, (incoming, outgoing) => void handle(incoming, outgoing));
};

// A parent that ends while Next starts.
process.on("disconnect", () => process.exit(0));

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : "Next did not start."}\n`);
  process.exit(1);
});
