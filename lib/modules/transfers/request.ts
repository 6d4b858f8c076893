import type { z } from "zod";
import type { ChainRegistry } from "@/lib/chains/registry";
import { SLIPPAGE_BPS_DEFAULT } from "@/lib/contracts/swap";
import type { createTransfer } from "@/lib/contracts/transfers";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { QUOTE_FIELDS, type FieldNames } from "@/lib/modules/quotes/service";
import type { EvmAddress } from "@/lib/ports/routing";

export type TransferInput = z.output<typeof createTransfer.body>;

/** The fields of POST /transfers, as errors name them. */
export const TRANSFER_FIELDS: FieldNames = {
  ...QUOTE_FIELDS,
  source: () => ({
    whole: "fromWalletId",
    address: "fromWalletId",
    chainId: "fromChainId",
    token: "token",
    amount: "amount",
  }),
  toToken: "token",
};

/** A transfer keeps its asset: the destination's token is the same, or the asset's token on the other chain. */
const destinationToken = (registry: ChainRegistry, { fromChainId, toChainId, token }: TransferInput): string => {
  if (fromChainId === toChainId) return token;
  const { assetId, symbol } = registry.resolveToken(fromChainId, token);
  const there = registry.tokens(toChainId).find((each) => each.assetId === assetId);
  if (there !== undefined) return there.address;
  const message = `There is no ${symbol} on ${registry.get(toChainId).name}. Swap it on the way instead (POST /swap/quote).`;
  throw new DomainError("unsupported_token", message, {
    details: [{ path: "token", message, code: "unsupported_token" }],
  });
};

/** Returns the input unchanged when it cannot be resolved, because `resolveRequest` then reports every wrong field. */
const tokenOrSame = (registry: ChainRegistry, input: TransferInput): string => {
  const known = registry.list().map(({ id }) => id);
  if (!known.includes(input.fromChainId) || !known.includes(input.toChainId)) return input.token;
  return destinationToken(registry, input);
};

/**
 * The quote request for a transfer: from one wallet, to the same asset.
 * @throws DomainError `unsupported_token` when the other chain does not have the asset, `invalid_request` when nothing
 * would move
 */
export const toQuoteInput = (registry: ChainRegistry, input: TransferInput, wallet: { readonly address: string }) => {
  const { fromChainId: chainId, toChainId, token, amount, toAddress, minAmount, maxPriceImpactBps } = input;
  if (chainId === toChainId && wallet.address.toLowerCase() === toAddress.toLowerCase()) {
    throw invalidRequest([{ path: "toAddress", message: "This is the wallet that sends; nothing would move." }]);
  }
  return {
    from: [{ address: wallet.address as EvmAddress, chainId, token, amount }],
    toChainId,
    toToken: tokenOrSame(registry, input),
    toAddress,
    slippageBps: SLIPPAGE_BPS_DEFAULT,
    minAmount,
    maxPriceImpactBps,
  };
};
