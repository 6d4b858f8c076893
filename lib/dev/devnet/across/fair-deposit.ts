/**
 * Decides which deposits the local relayer fills: those that pay at least for the gas of their
 * fill.
 */
import { isAddressEqual, parseAbi } from "viem";
import { fillCostUsd, fillGasOf } from "@/lib/core/fees";
import { planDeployments } from "../contracts";
import { localChains } from "../local-chains";
import type { SolverChain } from "./chain";
import type { Deposit } from "./spoke-pool";

const feedAbi = parseAbi([
  "function latestRoundData() view returns (uint80 roundId, int256 answer, uint256 startedAt, uint256 updatedAt, uint80 answeredInRound)",
]);
/** Decimals of the prices that the local feeds return. */
const FEED_DECIMALS = 8n;
/** Decimals of the dollar amounts in this file. */
const USD_DECIMALS = 18n;

const coinUsdOn = async ({ client }: SolverChain): Promise<bigint> => {
  const address = planDeployments().contracts.priceFeeds.eth;
  const [, answer] = await client.readContract({
    address,
    abi: feedAbi,
    functionName: "latestRoundData",
  });
  return answer * 10n ** (USD_DECIMALS - FEED_DECIMALS);
};

/**
 * A deposit is fair if it has the same token on both sides, and a fee that is worth at least the
 * cost of the relayer's transaction: the base fee of the destination's latest block (the relayer's
 * tip is 1 wei) times the configured gas.
 */
export const createFairness = () => {
  const chains = new Map(localChains().chains.map((chain) => [chain.id, chain]));
  return async (deposit: Deposit, destination: SolverChain): Promise<boolean> => {
    const chain = chains.get(destination.chainId);
    const token = chain?.tokens.find(
      ({ address }) => address !== "native" && isAddressEqual(address, deposit.inputToken),
    );
    const across = chain?.contracts.across;
    if (across === undefined || token === undefined || !across.tokens.includes(token.symbol))
      return false;
    if (!isAddressEqual(deposit.inputToken, deposit.outputToken)) return false;
    const [{ baseFeePerGas }, coinUsd] = await Promise.all([
      destination.client.getBlock({ blockTag: "latest" }),
      coinUsdOn(destination),
    ]);
    const gas = fillGasOf(across, deposit.message !== "0x");
    const costUsd = fillCostUsd({ gas, gasPriceWei: baseFeePerGas ?? 0n, coinUsd });
    const tokenUsd = token.usdPegged ? 10n ** USD_DECIMALS : coinUsd;
    const feeBase = deposit.inputAmount - deposit.outputAmount;
    return feeBase >= 0n && (feeBase * tokenUsd) / 10n ** BigInt(token.decimals) >= costUsd;
  };
};
