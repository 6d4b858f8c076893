import type { FeeExcess } from "@/lib/core/capped-fees";
import type { Database } from "@/lib/db/client";
import { appendEvent } from "./event-repository";
import { lockOperation, type OperationKey } from "./state-repository";

/** A chain's price and cap, in the form of one entry of the column `gas_waits`. */
export const gasWaitColumns = ({ pricePerGas, capPerGas }: FeeExcess) => ({
  price: pricePerGas.toString(),
  cap: capPerGas.toString(),
});

/**
 * Notes the waits of operations for a lower network fee. They are information alone: no decision depends on them, so a write needs no
 * version. An operation that has ended is not changed.
 */
export const createGasWaitRepository = (database: Database) => {
  const { prisma } = database;

  /** Updates the price of a wait that is noted already. False when none is noted. */
  const update = async ({ projectId, id }: OperationKey, chain: string, entry: string): Promise<boolean> => {
    const count = await prisma.$executeRaw`
      UPDATE operation SET gas_waits = jsonb_set(gas_waits, ARRAY[${chain}], (gas_waits -> ${chain}) || ${entry}::jsonb)
      WHERE project_id = ${projectId} AND id = ${id} AND gas_waits ? ${chain}`;
    return count > 0;
  };

  return {
    /** Notes the price for which the operation waits now. The first note is an event of the operation. */
    note: async (of: OperationKey, chainId: number, excess: FeeExcess, now: Date): Promise<void> => {
      const chain = String(chainId);
      const columns = gasWaitColumns(excess);
      if (await update(of, chain, JSON.stringify(columns))) return;
      const entry = JSON.stringify({ [chain]: { ...columns, since: now.toISOString() } });
      await database.transaction(async (tx) => {
        await lockOperation(tx, of);
        const count = await tx.$executeRaw`
          UPDATE operation SET gas_waits = coalesce(gas_waits, '{}'::jsonb) || ${entry}::jsonb
          WHERE project_id = ${of.projectId} AND id = ${of.id} AND status IN ('pending', 'processing')
            AND NOT coalesce(gas_waits ? ${chain}, false)`;
        if (count > 0)
          await appendEvent(tx, {
            projectId: of.projectId,
            operationId: of.id,
            type: "operation.waits_for_gas",
            data: { chainId, ...excess },
            now,
          });
      });
    },

    /** The price is below the cap again, or the chain took the transaction. */
    end: async (of: OperationKey, chainId: number, now: Date): Promise<void> => {
      const chain = String(chainId);
      await database.transaction(async (tx) => {
        await lockOperation(tx, of);
        const count = await tx.$executeRaw`
          UPDATE operation SET gas_waits = nullif(gas_waits - ${chain}, '{}'::jsonb)
          WHERE project_id = ${of.projectId} AND id = ${of.id} AND gas_waits ? ${chain}`;
        if (count > 0)
          await appendEvent(tx, {
            projectId: of.projectId,
            operationId: of.id,
            type: "operation.gas_fell",
            data: { chainId },
            now,
          });
      });
    },
  };
};

export type GasWaitRepository = ReturnType<typeof createGasWaitRepository>;
