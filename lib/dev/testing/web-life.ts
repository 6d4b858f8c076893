/** Runs processes that only serve the API and are killed at a point of a request. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { afterFile } from "./after-file";
import { entryFile } from "./entry";
import { startLife, type LifeOptions, type Point } from "./worker-life";

export interface WebLife {
  /** URL including `/api`. */
  readonly url: string;
  /**
   * Shows each further point to `dieAt`; at the first `true` the process is killed with kill -9.
   */
  watch(dieAt: (point: Point) => boolean): void;
  /**
   * Ends the process. @returns the point at which `dieAt` had killed the process; null when it was
   * still alive
   */
  end(): Promise<Point | null>;
}

/**
 * Starts a process that serves the API. Its traffic to the database and the chains passes through
 * the test.
 */
export const startWebLife = async ({
  variables,
  ...rest
}: Omit<LifeOptions, "start" | "dieAt">): Promise<WebLife> => {
  let dieAt = (_point: Point): boolean => false;
  let port = 0;
  const start: LifeOptions["start"] = async (given) => {
    const child = fork(entryFile("api-server"), {
      execArgv: [],
      env: { NODE_ENV: "test", ...given },
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const kill = (): void => void child.kill("SIGKILL");
    afterFile(kill);
    const exited = once(child, "exit").then(() => undefined);
    // Messages to a process that was just killed fail, which is not an error of the test.
    child.on("error", () => undefined);
    [{ port }] = (await once(child, "message")) as [{ port: number }];
    return {
      ...{ pid: child.pid ?? 0, exited, kill },
      begin: () => Promise.resolve(),
      freeze: () => void child.kill("SIGSTOP"),
      thaw: () => void child.kill("SIGCONT"),
    };
  };
  const life = await startLife({
    ...rest,
    ...{ start, variables: { ...variables, ROLE: "web" } },
    dieAt: (point) => dieAt(point),
  });
  return {
    url: `http://127.0.0.1:${String(port)}/api`,
    watch: (next) => (dieAt = next),
    end: () => {
      life.kill();
      return life.ended;
    },
  };
};
