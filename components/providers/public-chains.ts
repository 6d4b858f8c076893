import {
  type Chain,
  createTransport,
  defineChain,
  type EIP1193Provider,
  hexToNumber,
  http,
  isHex,
  ProviderDisconnectedError,
} from "viem";
import type { Transport } from "wagmi";
import type { PublicChain } from "@/lib/http/public-config";

const toViemChain = (chain: PublicChain): Chain =>
  defineChain({
    id: chain.id,
    name: chain.name,
    testnet: chain.testnet,
    nativeCurrency: chain.nativeCurrency,
    rpcUrls: { default: { http: chain.rpcUrl === null ? [] : [chain.rpcUrl] } },
    contracts: { multicall3: { address: chain.multicall3 } },
    ...(chain.explorerUrl === null
      ? {}
      : { blockExplorers: { default: { name: "Explorer", url: chain.explorerUrl } } }),
  });

/**
 * Converts the configured chains to viem's chains.
 * @throws Error when there are no chains
 */
export const chainsOf = (
  publicChains: readonly PublicChain[],
): readonly [Chain, ...Chain[]] => {
  const [first, ...rest] = publicChains.map(toViemChain);
  if (first === undefined) throw new Error("The configuration names no chain.");
  return [first, ...rest];
};

export const transportsOf = (publicChains: readonly PublicChain[]): Record<number, Transport> =>
  Object.fromEntries(
    publicChains.map(
      ({ id, rpcUrl }) => [id, rpcUrl === null ? walletTransport() : http(rpcUrl)] as const,
    ),
  );

/**
 * Reads a chain through the RPC of a connected wallet, for chains without a published RPC URL.
 * Fails with a readable message when no wallet is on the chain.
 */
const walletTransport = (): Transport => (parameters) => {
  const { chain, connectors } = parameters;

  const isHere = async (provider: EIP1193Provider): Promise<boolean> => {
    const answer: unknown = await provider.request({ method: "eth_chainId" });
    return isHex(answer) && hexToNumber(answer) === chain?.id;
  };

  const findProvider = async (): Promise<EIP1193Provider | null> => {
    for (const connector of connectors?.getState() ?? []) {
      // A wallet that does not answer is skipped.
      const authorized = await connector.isAuthorized().catch(() => false);
      if (!authorized) continue;
      const provider = (await connector.getProvider()) as EIP1193Provider;
      if (await isHere(provider).catch(() => false)) return provider;
    }
    return null;
  };

  const request = async (call: { method: string; params?: unknown }): Promise<unknown> => {
    const provider = await findProvider();
    if (provider !== null)
      return provider.request(call as Parameters<EIP1193Provider["request"]>[0]);
    const name = chain?.name ?? "this chain";
    const reason = `This service publishes no RPC URL of ${name}. Connect a wallet and switch it to ${name}.`;
    throw new ProviderDisconnectedError(new Error(reason));
  };

  return createTransport({
    key: "wallet",
    name: "The wallet's own RPC",
    // The public type gives each method its own result; a provider returns whatever the wallet
    // sent.
    request: request as EIP1193Provider["request"],
    retryCount: 0,
    type: "wallet",
  });
};
