import { DomainError } from "@/lib/core/errors";
import { approvalOf, type SmartAccountsService } from "@/lib/modules/smart-accounts/service";
import type { Quote, WalletLeg } from "@/lib/modules/quotes/service";

/** The leg ids from the quote's earlier preparation, by source. */
export const legIdsOf = (quote: Quote): ReadonlyMap<number, string> => {
  const { legs } = quote.route;
  return new Map(
    quote.preparedLegs.flatMap(({ legId }, index) => {
      const sourceIndex = legs[index]?.sourceIndex;
      return sourceIndex === undefined ? [] : [[sourceIndex, legId] as const];
    }),
  );
};

/**
 * The wallet's transaction count once the first transaction that is not an approval is sent. Only approvals before it
 * are skipped: after a swap that pays for a bridge comes the bridge's own approval, and money has moved by then.
 */
const countOnceSent = ({ transactions, fromNonce }: WalletLeg): number => {
  const firstMoving = transactions.findIndex((call) => approvalOf(call) === null);
  // Approvals alone move no money, whatever their number.
  return firstMoving === -1 ? Infinity : fromNonce + firstMoving + 1;
};

/**
 * Refuses to prepare a quote again once a wallet may have sent one of its transactions, because preparing again
 * replaces the stored transactions.
 * @throws DomainError `invalid_state`, `chain_unavailable`
 */
export const checkNothingSent = async (
  { smartAccounts }: { smartAccounts: Pick<SmartAccountsService, "sent"> },
  quote: Quote,
): Promise<void> => {
  const legs = quote.preparedLegs.filter((leg) => leg.by === "wallet");
  const counts = await Promise.all(legs.map(({ chainId, wallet }) => smartAccounts.sent.countPending(chainId, wallet)));
  if (legs.every((leg, index) => (counts[index] ?? 0) < countOnceSent(leg))) return;
  throw new DomainError(
    "invalid_state",
    "The wallet has sent a transaction since this was prepared. Execute with its hash; or ask for a new quote if it was something else.",
  );
};
