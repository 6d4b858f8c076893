import type { Wallet } from "@rainbow-me/rainbowkit";
import { getAddress, numberToHex, SwitchChainError, type Address } from "viem";
import { ChainNotConfiguredError, createConnector } from "wagmi";
import type { PublicChain } from "@/lib/http/public-config";
import { setBurnerConnected } from "./key";
import { createBurnerProvider, type BurnerProvider } from "./provider";

export const BURNER_ID = "burner";
export const BURNER_NAME = "Burner wallet – development only";

const ICON =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="6" fill="#855000"/><path d="M16 6c1 5 6 6 6 12a6 6 0 0 1-12 0c0-3 2-4 2-7 2 1 3 2 3 4 1-2 2-5 1-9z" fill="#fbf0dc"/></svg>',
  );

const accountsOf = (answer: unknown): readonly Address[] =>
  Array.isArray(answer) ? answer.map((entry) => getAddress(String(entry))) : [];

export const burnerWallet = (chains: readonly PublicChain[]) => (): Wallet => ({
  id: BURNER_ID,
  name: BURNER_NAME,
  iconUrl: ICON,
  iconBackground: "#855000",
  installed: true,
  createConnector: (details) =>
    createConnector<BurnerProvider>((config) => {
      let provider: BurnerProvider | undefined;
      const getProvider = (): BurnerProvider => (provider ??= createBurnerProvider(chains));
      const getAccounts = async (): Promise<readonly Address[]> =>
        accountsOf(await getProvider().request({ method: "eth_accounts" }));
      const switchTo = async (chainId: number) => {
        const chain = config.chains.find((candidate) => candidate.id === chainId);
        if (chain === undefined) throw new SwitchChainError(new ChainNotConfiguredError());
        await getProvider().request({
          method: "wallet_switchEthereumChain",
          params: [{ chainId: numberToHex(chainId) }],
        });
        config.emitter.emit("change", { chainId });
        return chain;
      };
      return {
        ...details,
        id: BURNER_ID,
        name: BURNER_NAME,
        type: BURNER_ID,
        connect: async ({ chainId } = {}) => {
          const accounts = accountsOf(
            await getProvider().request({ method: "eth_requestAccounts" }),
          );
          if (chainId !== undefined) await switchTo(chainId);
          return { accounts: accounts as never, chainId: getProvider().chainId() };
        },
        disconnect: () => {
          setBurnerConnected(false);
          return Promise.resolve();
        },
        getAccounts,
        getChainId: () => Promise.resolve(getProvider().chainId()),
        getProvider: () => Promise.resolve(getProvider()),
        isAuthorized: async () => (await getAccounts()).length > 0,
        switchChain: ({ chainId }) => switchTo(chainId),
        onAccountsChanged: () => undefined,
        onChainChanged: () => undefined,
        onDisconnect: () => setBurnerConnected(false),
      };
    }),
});
