import { createBatcher } from "@/lib/core/batch";
import { oneByOneAfterRefusal } from "@/lib/db/batches";
import type { Database } from "@/lib/db/client";
import { keptSqlOn } from "@/lib/db/sql";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { Leg, LegChange } from "./leg";
import { writeLegs, type LegWrite } from "./leg-write-repository";
import { takeSteps, type LegMove, type OperationStep, type SignedAgain, type Stepped } from "./step-repository";
import { createWalletTransactionRepository } from "./wallet-transaction-repository";

export type { LegMove, SignedAgain } from "./step-repository";

/** Maximum number of steps that share a transaction. */
const STEPS_MAX = 100;
/** One more batch may begin while the first waits for a lock. */
const LANES = 2;

/**
 * Changes legs as workers carry them on. Each write is a compare-and-set against the version that was read. Those that are asked for
 * while others are written share the next transaction; one alone is written at once.
 */
export const createLegRepository = (
  database: Database,
  sponsorship: Pick<SponsorshipService, "changeReservations" | "freeingParts">,
) => {
  const steps = createBatcher({
    run: oneByOneAfterRefusal((batch: readonly OperationStep[]) =>
      database.rawTransaction(
        async (sql) => (await takeSteps(sql, sponsorship, batch)).map((stepped) => ({ stepped })),
        keptSqlOn,
      ),
    ),
    batchWeightMax: STEPS_MAX,
    lanes: LANES,
  });
  const touches = createBatcher({
    run: oneByOneAfterRefusal(async (batch: readonly LegWrite[]) => {
      const written = await writeLegs(keptSqlOn(database.pool), batch);
      return batch.map((write) => ({ leg: written.get(write) ?? null }));
    }),
    batchWeightMax: STEPS_MAX,
    lanes: LANES,
  });
  const step = async (one: OperationStep): Promise<Stepped | null> => (await steps.submit(one)).stepped;

  return {
    /** pending → processing. Null when the operation is no longer pending, or awaits approval. */
    begin: (operationId: string, now: Date): Promise<Stepped | null> => step({ kind: "begin", operationId, now }),

    /**
     * Moves a leg to its next state. The operation's state, holds, the sponsor's budget and events change in the same
     * transaction.
     * @returns null when another instance has moved the leg since it was read
     * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`
     */
    moveLeg: (move: LegMove): Promise<Stepped | null> => step({ kind: "move", move }),

    /**
     * Stores an operation that was signed again for the same nonce and calls, in place of `leg.userOperation`.
     * @returns null when another instance has moved the leg since it was read
     * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`
     */
    replaceOperation: (leg: Leg, signed: SignedAgain, maxGasWei: bigint, now: Date): Promise<Stepped | null> =>
      step({ kind: "signAgain", leg, change: signed, maxGasWei, now }),

    /**
     * Stores new facts about a leg without a new state, such as its count of confirmations.
     * @returns null when another instance has moved the leg since it was read
     */
    touchLeg: async (leg: Leg, change: LegChange, now: Date): Promise<Leg | null> =>
      (await touches.submit({ leg, to: leg.state, change, now })).leg,

    /** Records a transaction that replaced a wallet's earlier one. False when it belongs to another leg already. */
    adoptTransaction: createWalletTransactionRepository(database).adopt,
  };
};

export type LegRepository = ReturnType<typeof createLegRepository>;
