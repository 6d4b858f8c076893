/** Lives of processes that serve the API alone, and end at a point of a request. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { afterFile } from "./after-file";
import { entryFile } from "./entry";
import { startLife, type LifeOptions, type Point } from "./worker-life";

export interface WebLife {
  /** `/api` included. */
  readonly url: string;
  /** From now on each point is shown to `dieAt`; the first `true` is a kill -9 right there. */
  watch(dieAt: (point: Point) => boolean): void;
  /** Ends it. @returns the point at which it had died; null where it lived until now */
  end(): Promise<Point | null>;
}

/** Starts a process that serves the API over the database and the chains, whose traffic passes through the test. */
export const startWebLife = async ({ variables, ...rest }: Omit<LifeOptions, "start" | "dieAt">): Promise<WebLife> => {
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
    // A message to a process that was just killed is not an error of the test.
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
