/** The fee of a relayer, and the limits of a deposit, as the configuration of the destination tells them. */
import { suggestFees } from "@/lib/chains/fees";
import { fillCostUsd, fillGasOf, relayerMarginUsd, steadyStep } from "@/lib/core/bridge-fee";
import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import { DomainError } from "@/lib/core/errors";
import { formatAmount, rescaleFloor } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/ports/routing";
import { askChain, type OnchainDeps } from "./chain-access";
import { formatUsd, usdToTokenCeil, type PriceSource, type UsdScaled } from "./price";
import { createTtlCache } from "./ttl-cache";

export type Erc20 = Token & { readonly address: EvmAddress };

/** A token that the bridge supports between two chains, with its form on each. */
export interface BridgeAsset {
  readonly input: Erc20;
  readonly output: Erc20;
}

interface Deposited {
  readonly asset: BridgeAsset;
  /** In base units of the input token. */
  readonly amount: bigint;
  /** Whether the destination executes calls after the fill; the relayer pays for their gas. */
  readonly hasMessage: boolean;
}

const CENT = 10n ** 16n;
/** Dollars for people, rounded up to a cent, so that a cost is never told as 0. */
const cents = (usd: UsdScaled): string => formatUsd(((usd + CENT - 1n) / CENT) * CENT);

const unpriced = (token: Token): DomainError =>
  new DomainError(
    "no_route",
    `The bridge's fee cannot be computed, because ${token.symbol} has no price. Nothing was sent; try another token, or try again later.`,
  );

const requirePrice = async (prices: PriceSource, token: Token, signal: AbortSignal): Promise<UsdScaled> => {
  const price = await prices.usd(token, signal);
  if (price === null || price === 0n) throw unpriced(token);
  return price;
};

/** Tells what is left of a deposit on its destination. */
export const createBridgeFee = (deps: OnchainDeps, prices: PriceSource) => {
  const { registry, clock, tuning } = deps;
  const gasPrices = createTtlCache({
    clock,
    ttlMs: tuning.gasPriceTtlMs,
    load: async (chainId: number) =>
      (await askChain(deps, chainId, new AbortController().signal, suggestFees)).pricePerGas,
  });

  /** The latest step of a fill's gas, by destination and whether it carries a message. Each instance has its own. */
  const steps = new Map<string, UsdScaled>();

  const acrossOf = (chainId: number) => {
    const { across } = registry.get(chainId).contracts;
    if (across === undefined) throw new DomainError("no_route", `No bridge leads to ${registry.get(chainId).name}.`);
    return across;
  };

  const requireWithinLimits = ({ asset: { input, output }, amount }: Deposited): void => {
    const { min, max } = acrossOf(output.chainId).limits[output.symbol] ?? {};
    const limit = (text: string, rounding: "ceil" | "floor") => scaledTo(parseDecimal(text), input.decimals, rounding);
    const isLow = min !== undefined && amount < limit(min, "ceil");
    const isHigh = max !== undefined && amount > limit(max, "floor");
    if (!isLow && !isHigh) return;
    const bound = isLow ? `at least ${min}` : `at most ${String(max)}`;
    throw new DomainError(
      "no_route",
      `The bridge carries ${bound} ${input.symbol} at once to ${registry.get(output.chainId).name}, ` +
        `and this is ${formatAmount(amount, input.decimals)} ${input.symbol}. Nothing was sent; change the amount.`,
    );
  };

  /**
   * In base units of the input token, rounded up: the gas that the relayer pays on the destination, and its margin. The gas's worth in
   * dollars is rounded up in steps of about a quarter and stays on its step near a border, so that between quote and execution neither the
   * gas price nor the coin's price changes the fee by their small moves.
   */
  const feeOf = async ({ asset: { input, output }, amount, hasMessage }: Deposited, signal: AbortSignal) => {
    const across = acrossOf(output.chainId);
    const [gasPriceWei, coinUsd, price] = await Promise.all([
      gasPrices.get(output.chainId, signal),
      requirePrice(prices, registry.native(output.chainId), signal),
      requirePrice(prices, input, signal),
    ]);
    const fill = `${String(output.chainId)}:${String(hasMessage)}`;
    const gasUsd = steadyStep(
      fillCostUsd({ gas: fillGasOf(across, hasMessage), gasPriceWei, coinUsd }),
      steps.get(fill),
    );
    steps.set(fill, gasUsd);
    const marginUsd = relayerMarginUsd(across, (amount * price) / 10n ** BigInt(input.decimals));
    return { feeBase: usdToTokenCeil(gasUsd + marginUsd, price, input.decimals), gasUsd, marginUsd };
  };

  /**
   * The amount that the relayer delivers for a deposit, in base units of the output token, rounded down; always above zero.
   * @throws DomainError `no_route` when the deposit is outside the limits or does not pay for its fill; `chain_unavailable`
   */
  return async (deposited: Deposited, signal: AbortSignal): Promise<bigint> => {
    const { asset, amount } = deposited;
    requireWithinLimits(deposited);
    const { feeBase, gasUsd, marginUsd } = await feeOf(deposited, signal);
    const rest = amount - feeBase;
    const delivered = rest <= 0n ? 0n : rescaleFloor(rest, asset.input.decimals, asset.output.decimals);
    if (delivered > 0n) return delivered;
    const { symbol, decimals } = asset.input;
    throw new DomainError(
      "no_route",
      `The amount is too small: the bridge's fee of ${formatAmount(feeBase, decimals)} ${symbol} would take all of ` +
        `${formatAmount(amount, decimals)} ${symbol}. A relayer pays about ${cents(gasUsd)} US dollars for gas on ` +
        `${registry.get(asset.output.chainId).name} and asks ${cents(marginUsd)} more. Nothing was sent; send more at once.`,
    );
  };
};
