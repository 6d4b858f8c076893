import { createServer, type Server } from "node:http";
import { inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** URL from which test files request the shared servers; see `askHub`. */
    testHub: string;
    /** Seed of the run's random keys. It is printed, and `--sequence.seed` repeats it. */
    testSeed: number;
    /** Number of rounds of the tests that kill workers; `CRASH_ROUNDS`, default 1. */
    crashRounds: number;
    /** True for `npm run test:long`, in which walks have more rounds and rows. */
    isLong: boolean;
    /**
     * The coordinator of the Citus cluster for the tests; by default they use a separate
     * PostgreSQL.
     */
    clusterUrl?: string;
    /**
     * The commit that runs as the older version in lib/dev/faults/neighbour-versions
     * (`OLDER_COMMIT`). When it is absent, the last commit without the newest migration runs as
     * the older version.
     */
    olderCommit?: string;
    /** True when examples of the OpenAPI document are recorded; `RECORD_EXAMPLES=1`. */
    recordsExamples: boolean;
  }
}

/**
 * How a test file connects to the shared PostgreSQL. The name of its database replaces the word
 * `DATABASE` at the end of a pattern.
 */
export interface SharedPostgres {
  readonly urlPattern: string;
  /** Like `urlPattern`, but with the role of the service, which owns nothing. */
  readonly appUrlPattern: string;
  readonly template: string;
  /**
   * The other nodes of a cluster, as patterns like `urlPattern`. All nodes have the same databases.
   */
  readonly workers?: readonly string[];
}

/** How a test file connects to the shared local chains. */
export interface SharedDevnet {
  /** JSON-RPC URLs by chain id. */
  readonly rpcUrls: Readonly<Record<string, string>>;
  /** URL of the provider of association sets. */
  readonly associationUrl: string;
}

export interface HubParts {
  postgres(): Promise<SharedPostgres>;
  devnet(): Promise<SharedDevnet>;
  /** Makes the solver leave this depositor's deposits unfilled, so that they are refunded. */
  ignore(depositor: string): Promise<object>;
  /** Reverses `ignore`. */
  heed(depositor: string): Promise<object>;
  /** Makes the association provider decline this account's deposits into privacy pools. */
  decline(depositor: string): Promise<object>;
}

const ASK_TIMEOUT_MS = 110_000;

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

/**
 * Serves the shared servers to the test processes. Each starts when the first file requests it, so
 * that a run without chain tests starts no chains.
 */
export const startHub = async (
  parts: HubParts,
): Promise<{ url: string; close: () => Promise<void> }> => {
  const answer = (path: string): Promise<object> => {
    const [, part, argument = ""] = path.split("/");
    if (part === "postgres") return parts.postgres();
    if (part === "devnet") return parts.devnet();
    if (part === "ignore") return parts.ignore(argument);
    if (part === "heed") return parts.heed(argument);
    if (part === "decline") return parts.decline(argument);
    return Promise.reject(new Error(`The test hub does not know ${path}.`));
  };
  const server: Server = createServer((request, response) => {
    void answer(request.url ?? "/").then(
      (value) => response.end(JSON.stringify(value)),
      (error: unknown) => response.writeHead(500).end(messageOf(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string")
    throw new Error("The test hub has no port.");
  return {
    url: `http://127.0.0.1:${String(address.port)}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
};

const ask = async <T>(part: string): Promise<T> => {
  const response = await fetch(`${inject("testHub")}/${part}`, {
    signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`The test hub could not do ${part}: ${text}`);
  return JSON.parse(text) as T;
};

export const sharedPostgres = (): Promise<SharedPostgres> => ask<SharedPostgres>("postgres");
export const sharedDevnet = (): Promise<SharedDevnet> => ask<SharedDevnet>("devnet");
export const ignoreDepositsOf = (depositor: string): Promise<object> =>
  ask<object>(`ignore/${depositor}`);
export const declineDepositsOf = (depositor: string): Promise<object> =>
  ask<object>(`decline/${depositor}`);
export const heedDepositsOf = (depositor: string): Promise<object> =>
  ask<object>(`heed/${depositor}`);
