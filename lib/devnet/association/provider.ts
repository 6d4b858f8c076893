import { createServer, type IncomingMessage } from "node:http";
import { getAddress, type Address } from "viem";
import { planDeployments } from "../contracts";
import { createAssociationChain, type AssociationChain } from "./chain";

const LOOK_INTERVAL_MS = 250;
const PATH = /^\/(\d+)\/public\/(mt-roots|mt-leaves|deposits-by-label)$/;

export interface AssociationProviderOptions {
  readonly chains: readonly { readonly chainId: number; readonly rpcUrl: string }[];
  /** 0: any free port. */
  readonly port: number;
  /** So long after it was seen a deposit is approved. */
  readonly delayMs: number;
  readonly log: (message: string) => void;
}

export interface AssociationProvider {
  readonly url: string;
  /** Deposits of this account, and of nobody else, are declined from now on. @returns takes it back */
  decline(depositor: Address): () => void;
  stop(): Promise<void>;
}

const scopeOf = ({ headers }: IncomingMessage): bigint | null => {
  const text = headers["x-pool-scope"];
  return typeof text === "string" && /^\d{1,80}$/.test(text) ? BigInt(text) : null;
};

const labelsOf = ({ headers }: IncomingMessage): bigint[] => {
  const text = headers["x-labels"];
  return typeof text === "string"
    ? text
        .split(",")
        .filter((label) => /^\d{1,80}$/.test(label))
        .map(BigInt)
    : [];
};

const answerOf = async (chain: AssociationChain, what: string, request: IncomingMessage): Promise<unknown> => {
  if (what === "mt-roots") return chain.roots();
  if (what === "deposits-by-label") return chain.reviews(labelsOf(request));
  const scope = scopeOf(request);
  return scope === null ? null : chain.leaves(scope);
};

/**
 * Provider of association sets for the local chains: approves every deposit after a while, publishes the set on the chain, and serves
 * it as 0xbow's public API does. On public networks 0xbow does this work.
 */
export const startAssociationProvider = async (options: AssociationProviderOptions): Promise<AssociationProvider> => {
  const { privacy } = planDeployments().contracts;
  const declined = new Set<Address>();
  const chains = new Map(
    options.chains.map(({ chainId, rpcUrl }) => [
      String(chainId),
      createAssociationChain({
        rpcUrl,
        privacy,
        delayMs: options.delayMs,
        isDeclined: (depositor) => declined.has(getAddress(depositor)),
      }),
    ]),
  );
  const busy = new Map<string, Promise<void>>();
  const look = (): void => {
    for (const [chainId, chain] of chains) {
      if (busy.has(chainId)) continue;
      const work = chain
        .advance()
        .catch((error: unknown) => {
          if (timer !== null)
            options.log(
              `The association set of ${chainId} has to wait: ${error instanceof Error ? error.message : String(error)}`,
            );
        })
        .finally(() => busy.delete(chainId));
      busy.set(chainId, work);
    }
  };
  let timer: ReturnType<typeof setInterval> | null = setInterval(look, LOOK_INTERVAL_MS);
  timer.unref();

  const server = createServer((request, response) => {
    const [, chainId = "", what = ""] = PATH.exec(new URL(request.url ?? "/", "http://localhost").pathname) ?? [];
    const chain = chains.get(chainId);
    const answer = chain === undefined ? Promise.resolve(null) : answerOf(chain, what, request);
    answer.then(
      (body) =>
        response.writeHead(body === null ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(body)),
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, "127.0.0.1", resolve);
  });
  server.unref();
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    decline: (depositor) => {
      declined.add(getAddress(depositor));
      return () => void declined.delete(getAddress(depositor));
    },
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      await Promise.all(busy.values());
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
