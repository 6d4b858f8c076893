import type { ApiClient } from "@/lib/api-client/client";
import type { Database } from "@/lib/platform/db/client";
import { waitUntilFinal } from "./journey";

/**
 * Waits until the operation has ended, and then changes its leg in the database to a leg whose
 * refund is unclear.
 * @returns the parameters of the route that decides about the refund
 */
export const unclearRefund = async (
  { prisma }: Database,
  client: ApiClient,
  operationId: string,
): Promise<{ readonly id: string; readonly legId: string }> => {
  await waitUntilFinal(client, operationId);
  const leg = await prisma.operationLeg.findFirstOrThrow({ where: { operationId } });
  await prisma.operationLeg.update({
    where: { id: leg.id },
    data: { state: "needs_attention" },
  });
  const data = { status: "processing", subStatus: "needs_attention" };
  await prisma.operation.update({ where: { id: operationId }, data });
  return { id: operationId, legId: leg.id };
};
