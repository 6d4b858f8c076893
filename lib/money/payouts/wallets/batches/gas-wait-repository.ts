import type { FeeExcess } from "@/lib/core/capped-fees";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { gasWaitColumns } from "@/lib/money/operations/service";
import type { DrivenPayout } from "./payout-batch";

/**
 * Stores on a payout's record that the payout waits for a lower network fee. The record only
 * informs people, so the update does not check a version.
 */
export const createPayoutGasWaits = ({ prisma }: Pick<Database, "prisma">) => ({
  note: async (
    { projectId, payoutId, chainId }: DrivenPayout,
    excess: FeeExcess,
    now: Date,
  ): Promise<void> => {
    const chain = String(chainId);
    const columns = JSON.stringify(gasWaitColumns(excess));
    const since = JSON.stringify({ since: now.toISOString() });
    await sqlOf(prisma).change(sql`
      UPDATE wallet_payout SET gas_waits = jsonb_build_object(
        ${chain}::text,
        ${since}::jsonb || coalesce(gas_waits -> ${chain}::text, '{}'::jsonb) || ${columns}::jsonb
      )
      WHERE project_id = ${projectId} AND payout_id = ${payoutId}`);
  },

  end: async ({ projectId, payoutId }: DrivenPayout): Promise<void> => {
    await sqlOf(prisma).change(sql`
      UPDATE wallet_payout SET gas_waits = NULL
      WHERE project_id = ${projectId} AND payout_id = ${payoutId} AND gas_waits IS NOT NULL`);
  },
});

export type PayoutGasWaits = ReturnType<typeof createPayoutGasWaits>;
