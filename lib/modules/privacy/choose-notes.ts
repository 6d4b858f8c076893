/** Chooses the notes that an operation spends, and the deposit numbers of the notes that it makes. */
import { grossForAddress, grossForNote } from "@/lib/core/privacy-fees";
import type { PrivacyContext } from "./context";
import { insufficientPrivate } from "./errors";
import { planSpends, type PlannedSpend } from "./plan-spends";
import type { SpendRequest } from "./spend-request";
import type { NewStep } from "./step-repository";

/** How much has to leave notes, fees included, so that a net amount arrives. Base units. */
const grossOf = ({ kind, pool, toWallet }: SpendRequest): ((netBase: bigint) => bigint) => {
  if (kind === "private_swap") return (netBase) => netBase;
  return toWallet === null
    ? (netBase) => grossForAddress(netBase, pool.relayFeeBps)
    : (netBase) => grossForNote(netBase, pool);
};

/** The missing amount that the error names; at least 1, because a pool's minimum can refuse notes whose sum suffices. */
const missingBase = (grossBase: bigint, notes: readonly { readonly valueBase: bigint }[]): bigint => {
  const missing = grossBase - notes.reduce((sum, { valueBase }) => sum + valueBase, 0n);
  return missing > 0n ? missing : 1n;
};

/** @throws DomainError `insufficient_balance` */
const planOf = async (context: PrivacyContext, request: SpendRequest): Promise<PlannedSpend[]> => {
  const { wallet, pool, amountBase, toWallet, kind } = request;
  const held = await context.holdings(context.privateWallets.keyOf(wallet), pool.chainId);
  const used = await context.repository.notesInUse(wallet.projectId, pool.chainId);
  const notes = held.notes.filter(
    ({ state, token, id }) => state === "approved" && token.address === pool.token.address && !used.has(id),
  );
  const gross = grossOf(request);
  const needsMinimum = toWallet !== null || kind === "private_swap";
  const plan = planSpends(notes, amountBase, { grossOf: gross, minimumBase: needsMinimum ? pool.minimumBase : 1n });
  if (plan === null) throw insufficientPrivate(pool.token, missingBase(gross(amountBase), notes));
  return plan;
};

/** The steps of an operation with the notes and numbers that are free now. @throws DomainError `insufficient_balance`, `invalid_state` */
export const chooseNotes = async (context: PrivacyContext, request: SpendRequest): Promise<NewStep[]> => {
  const plan = await planOf(context, request);
  const { toWallet, poolOut, swap, amountBase } = request;
  const numbers =
    toWallet === null
      ? []
      : await context.freeNumbers(
          { projectId: toWallet.projectId, key: context.privateWallets.keyOf(toWallet), pool: poolOut },
          plan.length,
        );
  return plan.map(({ noteId, withdrawBase, outBase }, index) => ({
    noteId,
    withdrawBase,
    // Each note brings its share of a swap's minimum, rounded up: together they bring at least what was promised.
    outBase: swap === null ? outBase : (swap.minimumBase * outBase + amountBase - 1n) / amountBase,
    slot: toWallet === null ? null : { walletId: toWallet.id, pool: poolOut.address, number: numbers[index] ?? 0 },
  }));
};
