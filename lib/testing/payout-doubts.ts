/** Brings payouts to wallets into doubt: another operation may have paid them. */
import type { Services } from "@/lib/composition";
import { REPLACED } from "@/lib/modules/payouts/wallets/batches/failures";
import { createBatchRepository } from "@/lib/modules/payouts/wallets/batches/repository";

/** Fails the first open batch of a payout as one that another operation replaced, of which the chain shows nothing. */
export const doubtUnseen = async (
  { database, sponsorship }: Pick<Services, "database" | "sponsorship">,
  id: string,
): Promise<void> => {
  const { projectId } = await database.prisma.payout.update({ where: { id }, data: { status: "processing" } });
  const batches = createBatchRepository(database, sponsorship);
  const payout = await batches.find(projectId, id);
  const [batch] = await batches.open(payout);
  if (batch === undefined) throw new Error("There is no batch.");
  await batches.fail({ payout, batch, failure: REPLACED, now: new Date() });
  await batches.finish(payout, new Date());
};
