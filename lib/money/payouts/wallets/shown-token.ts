import type { Token } from "@/lib/core/token";
import type { WalletsPayoutParts } from "../payout-view";
import { unknownToken } from "../readable";
import { tokenName } from "./rows";
import { tokenNamed } from "./wallet-payout";

/** Converts a token to the form that records of the API use. */
export const toTokenRecord = ({ symbol, address, chainId, decimals, assetId }: Token) => ({
  symbol,
  address,
  chainId,
  decimals,
  assetId,
});

/**
 * Finds the token of a row by its name. Returns a placeholder when the payout cannot be read
 * completely and the token's total is one of the missing parts.
 */
export const shownToken = (
  { payout, own }: Pick<WalletsPayoutParts, "payout" | "own">,
  name: string,
): Token =>
  payout.unread === true && !own.totals.some(({ token }) => tokenName(token) === name)
    ? unknownToken(own.chainId)
    : tokenNamed(own.totals, name);
