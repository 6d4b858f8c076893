import { encodeFunctionData, erc20Abi, parseAbi, type Hex } from "viem";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { invalidRequest } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { Faucet } from "@/lib/money/ports/devnet";
import type { EvmAddress } from "@/lib/core/evm";
import { devAddress } from "./accounts";
import { createUnlockedSender, type UnlockedSender } from "./sender";

const mintableAbi = parseAbi(["function mint(address to, uint256 amount) returns (bool)"]);
const weth9Abi = parseAbi(["function deposit() payable"]);

/**
 * Maximum number of whole tokens that one call gives. It is enough for any trial, and small enough
 * that the faucet's account never runs dry.
 */
const GIVEN_AT_ONCE_MAX = 1_000_000n;

export interface FaucetOptions {
  readonly registry: ChainRegistry;
}

/**
 * Gives tokens on the local chains: coins from an account that the node has unlocked, wrapped
 * coins by wrapping them, all other tokens by minting. Safe for concurrent calls, also from
 * several processes.
 * @throws DomainError from `give`: `invalid_request` for more than the maximum per call,
 * `chain_unavailable`
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
  const transaction = async (
    to: EvmAddress,
    token: Token,
    amountBase: bigint,
  ): Promise<Hex> => {
    const sender = senderOf(token.chainId);
    if (token.address === "native")
      return (await sender.send({ to, value: amountBase })).transactionHash;
    if (token.address !== registry.wrappedNative(token.chainId).address) {
      const data = encodeFunctionData({
        abi: mintableAbi,
        functionName: "mint",
        args: [to, amountBase],
      });
      return (await sender.send({ to: token.address, data })).transactionHash;
    }
    const wrap = encodeFunctionData({ abi: weth9Abi, functionName: "deposit" });
    await sender.send({ to: token.address, data: wrap, value: amountBase });
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [to, amountBase],
    });
    return (await sender.send({ to: token.address, data })).transactionHash;
  };
  return {
    give: async (to, token, amountBase) => {
      const max = GIVEN_AT_ONCE_MAX * 10n ** BigInt(token.decimals);
      if (amountBase > max) {
        const message = `The faucet gives at most ${formatAmount(max, token.decimals)} ${token.symbol} at a time.`;
        throw invalidRequest([{ path: "amount", message }]);
      }
      return chainCall(token.chainId, async () => ({
        txHash: await transaction(to, token, amountBase),
      }));
    },
  };
};
