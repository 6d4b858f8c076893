/** What payouts of both kinds share. */
import { PAYOUT_ROWS_MAX } from "@/lib/contracts/payout-records";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";

/** A payout that nobody approves within a day expires. */
export const APPROVAL_SECONDS = 24 * 60 * 60;
export const PRICE_TIMEOUT_MS = 3000;

export interface Prices {
  priceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]>;
  highestPriceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]>;
}

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** @throws DomainError `batch_too_large` */
export const requireRows = (count: number): void => {
  if (count <= PAYOUT_ROWS_MAX) return;
  const message = `A payout has at most ${String(PAYOUT_ROWS_MAX)} rows; this one has ${String(count)}. Nothing was paid.`;
  throw new DomainError("batch_too_large", message);
};
