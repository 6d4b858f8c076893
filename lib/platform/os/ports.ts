import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

export const isPortFree = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });

/**
 * The range of the ports to try. Systems assign ports above this range to programs that request
 * any port, and to outgoing connections.
 */
const [FIRST_PORT, LAST_PORT] = [20_000, 32_767];
const TRIES_MAX = 100;

/**
 * Returns a port on the loopback interface that is free now: `wanted` if it is free, otherwise a
 * port that the system does not assign automatically. Such a port is still free when a program that
 * takes seconds to start listens on it.
 * @throws Error when no port is found
 */
export const freePort = async (wanted = 0): Promise<number> => {
  for (let port = wanted, tries = 0; tries < TRIES_MAX; tries += 1) {
    if (port !== 0 && (await isPortFree(port, "127.0.0.1"))) return port;
    port = randomInt(FIRST_PORT, LAST_PORT + 1);
  }
  throw new Error(
    `No free port was found between ${String(FIRST_PORT)} and ${String(LAST_PORT)}.`,
  );
};

/** The program that listens on a port, if the system reports it: "node (pid 12)", else null. */
export const portOwner = (port: number): string | null => {
  const ask = (command: string, args: readonly string[], pattern: RegExp): string | null => {
    try {
      const text = execFileSync(command, args, {
        encoding: "utf8",
        stdio: "pipe",
        timeout: 2_000,
      });
      const found = pattern.exec(text)?.groups;
      return found ? `${found.name ?? "a program"} (pid ${found.pid ?? "?"})` : null;
    } catch {
      return null; // Null, because not every system has the tool.
    }
  };
  const number = String(port);
  return (
    ask("ss", ["-Hltnp", `sport = :${number}`], /"(?<name>[^"]+)",pid=(?<pid>\d+)/) ??
    ask(
      "lsof",
      ["-nP", `-iTCP:${number}`, "-sTCP:LISTEN", "-Fpc"],
      /p(?<pid>\d+)\nc(?<name>\S+)/,
    )
  );
};
