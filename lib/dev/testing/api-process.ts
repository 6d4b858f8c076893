import { fork } from "node:child_process";
import { once } from "node:events";
import { afterFile } from "./after-file";
import type { TestApi } from "./api";
import { entryFile } from "./entry";

export interface ApiProcess {
  /** URL including `/api`. */
  readonly url: string;
  /** Ends the process with kill -9. Resolves when it has ended. */
  kill(): Promise<void>;
}

interface ApiProcessOptions {
  /** Default: the bundle of this version. */
  readonly entry?: string;
  /** The working folder of the process. Default: the folder of the tests. */
  readonly folder?: string;
}

/**
 * Starts an instance in a separate process, which runs `lib/dev/testing/api-server.ts`. The
 * process is killed after the test file.
 * @throws Error when the process ends before it listens
 */
export const startApiProcess = async (
  variables: Readonly<Record<string, string>>,
  { entry = entryFile("api-server"), folder }: ApiProcessOptions = {},
): Promise<ApiProcess> => {
  const child = fork(entry, {
    execArgv: [],
    ...(folder === undefined ? {} : { cwd: folder }),
    env: { NODE_ENV: "test", ...variables },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = once(child, "exit");
  afterFile(() => child.kill("SIGKILL"));
  const failed = ended.then(([code]) =>
    Promise.reject(new Error(`The process ended with code ${String(code)}.`)),
  );
  const [{ port }] = (await Promise.race([once(child, "message"), failed])) as [
    { port: number },
  ];
  return {
    url: `http://127.0.0.1:${String(port)}/api`,
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
};

/** The environment of a process that uses the database and chains of `api`, with its secrets. */
export const processVariables = ({
  services: { config },
}: TestApi): Readonly<Record<string, string>> => ({
  DATABASE_URL: config.databaseUrl,
  ...Object.fromEntries(
    config.chains.flatMap(({ id, rpcUrls: [rpcUrl = ""], privacyPools }) => [
      [`RPC_URL_${String(id)}`, rpcUrl],
      [`ASP_URL_${String(id)}`, privacyPools?.aspSource ?? ""],
    ]),
  ),
  ...{ CAUSEWAY_ENV: "development", DEVNET: "1", LOG_LEVEL: "silent" },
  // Loaded machines need longer than a service in use.
  REQUEST_SECONDS_MAX: "60",
  ...{ RATE_LIMIT_PER_KEY: "0", RATE_LIMIT_PER_IP: "0", RATE_LIMIT_SIGN_IN_PER_IP: "0" },
  APP_SECRET: config.appSecret,
  KEY_ENCRYPTION_KEY: config.keyEncryptionKeys[0].toString("hex"),
  EXECUTOR_PRIVATE_KEY: config.executorPrivateKey ?? "",
});
