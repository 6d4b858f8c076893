import type { Services } from "@/lib/composition";
import type { Actor } from "@/lib/core/actor";
import { sqlOf } from "@/lib/platform/db/sql";
import { accountsIntent } from "@/lib/money/payouts/intent";

/**
 * Queues a payout between accounts like its approval does, including the evaluation without which
 * nothing is posted, but starts no job.
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
