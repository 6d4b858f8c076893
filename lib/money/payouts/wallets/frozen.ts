/**
 * Refuses payouts that pay an address which the issuer of a token has frozen. Batches check again
 * before they are signed.
 */
import type { TokenFreezes } from "@/lib/chain/token-freezes";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/core/evm";
import { refuseFaults } from "../limits";
import type { WalletsRequest } from "./request";

export type Freezes = Pick<TokenFreezes, "areFrozen">;

const treasuryMessage = (token: Token, address: EvmAddress): string =>
  `The issuer of ${token.symbol} has frozen the treasury ${address}, so its ${token.symbol} cannot leave it. Nothing was sent; the money is in the treasury.`;

/**
 * Refuses a payout from a frozen treasury or to a frozen recipient.
 * @throws DomainError `wallet_frozen` for the treasury; `recipient_frozen` with every frozen
 * recipient by its row
 */
export const refuseFrozen = async (
  freezes: Freezes,
  { treasury, rows, totals }: Pick<WalletsRequest, "treasury" | "rows" | "totals">,
): Promise<void> => {
  const payers = totals.map(({ token }) => ({ token, address: treasury.address }));
  const paid = rows.map(({ token, recipient }) => ({ token, address: recipient }));
  const frozen = await freezes.areFrozen([...payers, ...paid]);
  const payer = payers.find((_, index) => frozen[index] === true);
  if (payer !== undefined)
    throw new DomainError("wallet_frozen", treasuryMessage(payer.token, payer.address));
  const faults = paid.flatMap(({ token, address }, index) =>
    frozen[payers.length + index] === true
      ? [
          {
            path: `transfers.${String(index)}.address`,
            message: `is ${address}, which the issuer of ${token.symbol} has frozen: pay another address, or in another token`,
            code: "recipient_frozen" as const,
          },
        ]
      : [],
  );
  refuseFaults(faults, rows.length);
};
