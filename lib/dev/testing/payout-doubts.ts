/**
 * Puts payouts to wallets into the state `doubts`: an operation that is not in the database may
 * have paid them.
 */
import { expect, vi } from "vitest";
import type { Services } from "@/lib/composition";
import { isFinal } from "@/lib/core/status";
import { REPLACED } from "@/lib/money/payouts/wallets/batches/failures";
import { createBatchRepository } from "@/lib/money/payouts/wallets/batches/repository";
import { startWorker } from "@/lib/workers/runner";

/**
 * Fails the first open batch of a payout as replaced by another operation, about which the chain
 * shows nothing.
 */
export const doubtUnseen = async (
  { database, sponsorship }: Pick<Services, "database" | "sponsorship">,
  id: string,
): Promise<void> => {
  const { projectId } = await database.prisma.payout.update({
    where: { id },
    data: { status: "processing" },
  });
  const batches = createBatchRepository(database, sponsorship);
  const payout = await batches.find(projectId, id);
  const [batch] = await batches.open(payout);
  if (batch === undefined) throw new Error("There is no batch.");
  await batches.fail({ payout, batch, failure: REPLACED, now: new Date() });
  await batches.finish(payout, new Date());
};

/**
 * Changes the stored records of a paid payout as if the database had been restored to a backup from
 * before the payment and a new attempt had failed since: the chain shows the payment, but it is
 * unknown which operation made it.
 */
export const doubtPaid = async (
  { prisma }: Services["database"],
  id: string,
): Promise<void> => {
  const failure = { ...REPLACED };
  const lost = { userOpHash: null, txHash: null, blockNumber: null, version: { increment: 1 } };
  await prisma.walletPayoutBatch.updateMany({
    where: { payoutId: id },
    data: { state: "failed", failure, ...lost },
  });
  const { itemsTotal } = await prisma.payout.findUniqueOrThrow({ where: { id } });
  const counts = { itemsCompleted: 0, itemsFailed: itemsTotal };
  await prisma.payout.update({
    where: { id },
    data: { status: "failed", subStatus: "full", failure, ...counts },
  });
};

/**
 * Runs `work` after the first batch of a payout was executed on chain and before it is settled.
 * The settlement waits, because the payout's row is locked meanwhile.
 */
export const whileMined = async (
  services: Services,
  id: string,
  work: () => Promise<unknown>,
): Promise<void> => {
  const { prisma, pool } = services.database;
  await prisma.payout.update({ where: { id }, data: { status: "processing" } });
  const lock = await pool.connect();
  const worker = startWorker(services);
  try {
    await lock.query("BEGIN");
    await lock.query("SELECT id FROM payout WHERE id = $1 FOR UPDATE", [id]);
    const where = { payoutId: id, number: 0 };
    await vi.waitFor(
      async () =>
        expect((await prisma.walletPayoutBatch.findFirstOrThrow({ where })).state).toBe(
          "mined",
        ),
      { timeout: 40_000, interval: 50 },
    );
    await work();
    await lock.query("COMMIT");
    await vi.waitFor(
      async () =>
        expect(
          isFinal(
            (await prisma.payout.findUniqueOrThrow({ where: { id } })).status as "failed",
          ),
        ).toBe(true),
      { timeout: 40_000, interval: 100 },
    );
  } finally {
    await lock.query("ROLLBACK");
    lock.release();
    await worker.stop();
  }
};

/**
 * Deletes the batch's transaction from the database between its execution on chain and its
 * settlement, as a restore from a backup would.
 */
export const losePaid = (services: Services, id: string): Promise<void> =>
  whileMined(services, id, () =>
    services.database.prisma.walletPayoutBatch.updateMany({
      where: { payoutId: id, number: 0 },
      data: {
        ...{
          state: "queued",
          attempt: 0,
          userOpHash: null,
          txHash: null,
          blockNumber: null,
          confirmations: 0,
        },
        ...{ gasCostWei: 0, version: { increment: 1 } },
      },
    }),
  );
