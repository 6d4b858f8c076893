import { execFileSync } from "node:child_process";
import { createServer } from "node:net";

/** A port on the loopback that is free now: `wanted` if it is free, else any one. */
export const freePort = async (wanted = 0): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error) => {
      if (wanted === 0) reject(error);
      else resolve(freePort());
    });
    server.listen({ host: "127.0.0.1", port: wanted, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : wanted));
    });
  });

/** Whether the port is free now. */
export const isPortFree = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });

/** The program that listens on a port, if the system reports it: "node (pid 12)", else null. */
export const portOwner = (port: number): string | null => {
  const ask = (command: string, args: readonly string[], pattern: RegExp): string | null => {
    try {
      const text = execFileSync(command, args, { encoding: "utf8", stdio: "pipe", timeout: 2_000 });
      const found = pattern.exec(text)?.groups;
      return found ? `${found.name ?? "a program"} (pid ${found.pid ?? "?"})` : null;
    } catch {
      return null; // Not every system has the tool.
    }
  };
  const number = String(port);
  return (
    ask("ss", ["-Hltnp", `sport = :${number}`], /"(?<name>[^"]+)",pid=(?<pid>\d+)/) ??
    ask("lsof", ["-nP", `-iTCP:${number}`, "-sTCP:LISTEN", "-Fpc"], /p(?<pid>\d+)\nc(?<name>\S+)/)
  );
};
