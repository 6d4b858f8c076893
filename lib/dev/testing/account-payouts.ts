import type { Services } from "@/lib/composition";
import type { Actor } from "@/lib/core/actor";
import { sqlOf } from "@/lib/platform/db/sql";
import { accountsIntent } from "@/lib/money/payouts/intent";

/**
 * Queues a payout between accounts as its approval would, but starts no job. Also stores the
 * policy evaluation, because the service posts nothing without one.
 */
export const releasePayout = async (
  { database, policyEngine }: Services,
  actor: Actor,
  id: string,
): Promise<void> => {
  const { currency, totalBase, createdBy, digest } =
    await database.prisma.payout.findUniqueOrThrow({ where: { id } });
  const payout = {
    currency: currency ?? "",
    totalBase: BigInt(totalBase.toFixed()),
    createdBy,
  };
  await policyEngine.checking(accountsIntent(actor, payout, null), (check) =>
    database.transaction(async (tx) => {
      const subject = { type: "payout", id, digest } as const;
      const evaluationId = await check.enforce(sqlOf(tx), subject, { hasCode: true });
      await tx.payout.update({
        where: { id },
        data: { evaluationId, subStatus: "queued", expiresAt: null },
      });
    }),
  );
};
