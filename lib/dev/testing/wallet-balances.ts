import type { Address } from "viem";
import type { TestApi } from "./api";
import { balanceOnChain, fund, type Customer } from "./journey";

export interface WalletBalances {
  rpcUrl(chainId: number): string;
  /** The contract of a token. @throws Error for the chain's coin, which has none */
  tokenAddress(chainId: number, symbol: string): Address;
  /** In base units. */
  balance(chainId: number, symbol: string, owner: Address): Promise<bigint>;
  /** Gives an address tokens from the faucet. */
  give(
    to: Customer,
    address: Address,
    chainId: number,
    symbol: string,
    amount: string,
  ): Promise<void>;
}

/** Reads and fills the balances of wallets on the test's chains. */
export const walletBalances = ({ services: { registry } }: TestApi): WalletBalances => {
  const rpcUrl = (chainId: number): string => registry.get(chainId).rpcUrls[0] ?? "";
  return {
    rpcUrl,
    tokenAddress: (chainId, symbol) => {
      const { address } = registry.resolveToken(chainId, symbol);
      if (address === "native") throw new Error("It is no contract.");
      return address;
    },
    balance: (chainId, symbol, owner) =>
      balanceOnChain(rpcUrl(chainId), registry.resolveToken(chainId, symbol).address, owner),
    give: (to, address, chainId, symbol, amount) =>
      fund(to.session.client, address, { chainId, token: symbol, amount }),
  };
};
