import { DomainError } from "@/lib/core/errors";
import { approvalOf, type SmartAccountsService } from "@/lib/modules/smart-accounts/service";
import type { Quote, WalletLeg } from "@/lib/modules/quotes/service";

/** The ids that the legs of a quote got when it was prepared before, by source. */
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
 * How many transactions the wallet has sent once the first that is more than an approval is out. Only approvals that go before it
 * are awaited: a swap that pays for a bridge is followed by the bridge's own approval, and has moved money by then.
 */
const countOnceSent = ({ transactions, fromNonce }: WalletLeg): number => {
  const firstMoving = transactions.findIndex((call) => approvalOf(call) === null);
  // Approvals alone move nothing, however many of them are out.
  return firstMoving === -1 ? Infinity : fromNonce + firstMoving + 1;
};

/**
 * Preparing again replaces what is known of a wallet's transactions, so it must not happen once one of them may be out.
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
