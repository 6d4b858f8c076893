import { numberToHex } from "viem";
import { getBlockNumber, getPublicClient } from "wagmi/actions";
import { createConfig, createConnector } from "wagmi";
import { expect, test } from "vitest";
import { chainsOf, transportsOf } from "./public-chains";

const chain = (id: number, rpcUrl: string | null) => ({
  id,
  name: `Chain ${String(id)}`,
  testnet: true,
  rpcUrl,
  nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
  explorerUrl: null,
  multicall3: "0xcA11bde05977b3631167028862bE2a173976CA11" as const,
});

const publicChains = [chain(1, "https://public.example.org/"), chain(2, null)];

const walletOn = (chainId: number, asked: string[]) =>
  createConnector(() => ({
    id: "wallet",
    name: "Wallet",
    type: "wallet",
    connect: () => Promise.reject(new Error("not asked for here")),
    disconnect: () => Promise.resolve(),
    getAccounts: () => Promise.resolve([]),
    getChainId: () => Promise.resolve(chainId),
    getProvider: () =>
      Promise.resolve({
        request: ({ method }: { method: string }) => {
          asked.push(method);
          return Promise.resolve(numberToHex(method === "eth_chainId" ? chainId : 77));
        },
      }),
    isAuthorized: () => Promise.resolve(true),
    onAccountsChanged: () => undefined,
    onChainChanged: () => undefined,
    onDisconnect: () => undefined,
  }));

const configWith = (chainId: number, asked: string[] = []) =>
  createConfig({
    chains: chainsOf(publicChains),
    connectors: [walletOn(chainId, asked)],
    transports: transportsOf(publicChains),
  });

test("a chain without a public RPC URL is in the wallets' configuration, without any URL", () => {
  const config = configWith(1);
  expect(config.chains.map(({ id }) => id)).toEqual([1, 2]);
  expect(config.chains[1]?.rpcUrls.default.http).toEqual([]);
  expect(getPublicClient(config, { chainId: 2 })?.transport).not.toHaveProperty("url");
});

test("a chain without a public RPC URL is read through the wallet that is on it", async () => {
  const asked: string[] = [];
  expect(await getBlockNumber(configWith(2, asked), { chainId: 2 })).toBe(77n);
  expect(asked).toEqual(["eth_chainId", "eth_blockNumber"]);
});

test("a chain without a public RPC URL and without a wallet on it is explained with the way out", async () => {
  await expect(getBlockNumber(configWith(1), { chainId: 2 })).rejects.toThrow(
    "This service publishes no RPC URL of Chain 2. Connect a wallet and switch it to Chain 2.",
  );
});
