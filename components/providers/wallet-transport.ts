import { createTransport, hexToNumber, isHex, ProviderDisconnectedError, type EIP1193Provider } from "viem";
import type { Transport } from "wagmi";

/**
 * Reads a chain through the RPC of a wallet that is on it: for chains of which the operator publishes no RPC URL. Fails with a
 * message for people when no wallet of the page is on the chain.
 */
export const walletTransport = (): Transport => (parameters) => {
  const { chain, connectors } = parameters;

  const isHere = async (provider: EIP1193Provider): Promise<boolean> => {
    const answer: unknown = await provider.request({ method: "eth_chainId" });
    return isHex(answer) && hexToNumber(answer) === chain?.id;
  };

  const findProvider = async (): Promise<EIP1193Provider | null> => {
    for (const connector of connectors?.getState() ?? []) {
      // A wallet that cannot answer is not the one that is on the chain.
      const authorized = await connector.isAuthorized().catch(() => false);
      if (!authorized) continue;
      const provider = (await connector.getProvider()) as EIP1193Provider;
      if (await isHere(provider).catch(() => false)) return provider;
    }
    return null;
  };

  const request = async (asked: { method: string; params?: unknown }): Promise<unknown> => {
    const provider = await findProvider();
    if (provider !== null) return provider.request(asked as Parameters<EIP1193Provider["request"]>[0]);
    const name = chain?.name ?? "this chain";
    const reason = `This service publishes no RPC URL of ${name}. Connect a wallet and switch it to ${name}.`;
    throw new ProviderDisconnectedError(new Error(reason));
  };

  return createTransport({
    key: "wallet",
    name: "The wallet's own RPC",
    // The public type of a request answers with a type for each method; a provider answers with whatever the wallet sent.
    request: request as EIP1193Provider["request"],
    retryCount: 0,
    type: "wallet",
  });
};
