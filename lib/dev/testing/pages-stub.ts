import { servePages } from "@/lib/http/pages-server";

/**
 * A mock of the pages without Next, for tests of the server in front of them. Some paths end or
 * break the process: `/end`, `/hang` (it stops answering), `/grow` (it runs out of memory),
 * `/fault` (each further answer is 500).
 */
const kept: string[][] = [];

const grow = (): never => {
  for (;;) kept.push(Array.from({ length: 100_000 }, (_, index) => `kept ${String(index)}`));
};

const hang = (): never => {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
};

let hasFault = false;

const [, , socketPath = ""] = process.argv;
servePages(socketPath, (incoming, outgoing) => {
  if (incoming.url === "/end") process.exit(3);
  if (incoming.url === "/hang") hang();
  if (incoming.url === "/grow") grow();
  if (incoming.url === "/fault") hasFault = true;
  else if (hasFault) outgoing.statusCode = 500;
  outgoing.end(
    JSON.stringify({ pid: process.pid, path: incoming.url, headers: incoming.headers }),
  );
});
