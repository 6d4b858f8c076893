import type { Address } from "viem";
import { planDeployments } from "../contracts";
import { createAssociationChain } from "./chain";
import { serveAssociationSets } from "./server";

const LOOK_INTERVAL_MS = 250;

export interface AssociationProviderOptions {
  readonly chains: readonly { readonly chainId: number; readonly rpcUrl: string }[];
  /** 0: any free port. */
  readonly port: number;
  /** A deposit is approved this long after it was seen. */
  readonly delayMs: number;
  readonly log: (message: string) => void;
}

export interface AssociationProvider {
  readonly url: string;
  /** Declines the deposits that this account makes from now on, on every chain. */
  decline(depositor: Address): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Provider of association sets for the local chains: approves every deposit after a while,
 * publishes the set on the chain, and serves it as 0xbow's public API does. On public networks
 * 0xbow does this work.
 */
export const startAssociationProvider = async (
  options: AssociationProviderOptions,
): Promise<AssociationProvider> => {
  const { privacy } = planDeployments().contracts;
  const { delayMs } = options;
  const chains = new Map(
    options.chains.map(({ chainId, rpcUrl }) => [
      String(chainId),
      createAssociationChain({ rpcUrl, privacy, delayMs }),
    ]),
  );
  const server = await serveAssociationSets(chains, options.port);
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
  return {
    url: server.url,
    decline: async (depositor) => {
      await Promise.all([...chains.values()].map((chain) => chain.decline(depositor)));
    },
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      await Promise.all(busy.values());
      await server.close();
    },
  };
};
