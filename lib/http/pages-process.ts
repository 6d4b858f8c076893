import { fork, type ChildProcess } from "node:child_process";
import { Agent, request, type IncomingMessage, type ServerResponse } from "node:http";

export interface PagesProcess {
  /** Passes a request on to the pages, and their answer back. */
  handle(incoming: IncomingMessage, outgoing: ServerResponse): void;
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 5_000;

const isPort = (message: unknown): message is { type: "pages"; port: number } =>
  typeof message === "object" && message !== null && "type" in message && message.type === "pages";

const readyPort = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The pages were not ready in time.")), READY_TIMEOUT_MS);
    child.once("exit", () => {
      clearTimeout(timer);
      reject(new Error("The process of the pages ended while it started; its reason stands above."));
    });
    child.on("message", (message) => {
      if (!isPort(message)) return;
      clearTimeout(timer);
      resolve(message.port);
    });
  });

const stopChild = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
    child.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill("SIGTERM");
  });

/**
 * Starts Next in a process of its own (`pages.ts` says why) on a port of the loopback interface. `onExit` is called when it ends without
 * having been told to.
 */
export const startPagesProcess = async (entry: string, onExit: () => void): Promise<PagesProcess> => {
  const child = fork(entry, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const port = await readyPort(child);
  let stopping = false;
  child.once("exit", () => {
    if (!stopping) onExit();
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });

  const fail = (outgoing: ServerResponse): void => {
    if (outgoing.headersSent) {
      outgoing.destroy();
      return;
    }
    outgoing.writeHead(502, { "content-type": "text/plain; charset=utf-8", "retry-after": "2" });
    outgoing.end("The pages do not answer at the moment. Load the page again.");
  };

  return {
    handle: (incoming, outgoing) => {
      const { method, url, headers } = incoming;
      const upstream = request({ host: "127.0.0.1", port, method, path: url, headers, agent }, (answer) => {
        // Headers that were set before, the policies of pages, stay; Next's own come on top.
        for (const [name, value] of Object.entries(answer.headers)) {
          if (value !== undefined && name !== "connection" && name !== "keep-alive" && name !== "transfer-encoding")
            outgoing.setHeader(name, value);
        }
        outgoing.writeHead(answer.statusCode ?? 502);
        answer.pipe(outgoing);
        answer.once("error", () => fail(outgoing));
      });
      upstream.once("error", () => fail(outgoing));
      outgoing.once("close", () => upstream.destroy());
      incoming.pipe(upstream);
    },
    stop: async () => {
      stopping = true;
      agent.destroy();
      await stopChild(child);
    },
  };
};
