import { encodeFunctionData, erc20Abi, parseAbi, type Hex } from "viem";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import type { Token } from "@/lib/core/token";
import type { Faucet } from "@/lib/ports/devnet";
import type { EvmAddress } from "@/lib/ports/routing";
import { devAddress } from "./accounts";
import { createUnlockedSender, type UnlockedSender } from "./sender";

const mintableAbi = parseAbi(["function mint(address to, uint256 amount) returns (bool)"]);
const weth9Abi = parseAbi(["function deposit() payable"]);

export interface FaucetOptions {
  readonly registry: ChainRegistry;
}

/**
 * Gives tokens on the local chains: coins from an account that the node has unlocked, wrapped coins by wrapping them, all
 * other tokens by minting. Any number of calls at once, also from several processes.
 */
export const createFaucet = ({ registry }: FaucetOptions): Faucet => {
  const senders = new Map<number, UnlockedSender>();
  const senderOf = (chainId: number): UnlockedSender => {
    const known = senders.get(chainId);
    if (known) return known;
    const sender = createUnlockedSender(registry.client(chainId), devAddress("faucet"));
    senders.set(chainId, sender);
    return sender;
  };
  const transaction = async (to: EvmAddress, token: Token, amountBase: bigint): Promise<Hex> => {
    const sender = senderOf(token.chainId);
    if (token.address === "native") return (await sender.sendAndWait({ to, value: amountBase })).transactionHash;
    if (token.address !== registry.wrappedNative(token.chainId).address) {
      const data = encodeFunctionData({ abi: mintableAbi, functionName: "mint", args: [to, amountBase] });
      return (await sender.sendAndWait({ to: token.address, data })).transactionHash;
    }
    const wrap = encodeFunctionData({ abi: weth9Abi, functionName: "deposit" });
    await sender.sendAndWait({ to: token.address, data: wrap, value: amountBase });
    const data = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [to, amountBase] });
    return (await sender.sendAndWait({ to: token.address, data })).transactionHash;
  };
  return {
    give: (to, token, amountBase) =>
      chainCall(token.chainId, async () => ({ txHash: await transaction(to, token, amountBase) })),
  };
};
