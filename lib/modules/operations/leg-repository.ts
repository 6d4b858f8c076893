import { createBatcher } from "@/lib/core/batch";
import { eachByItself, oneByOneAfterRefusal } from "@/lib/db/batches";
import type { Database } from "@/lib/db/client";
import { keptSqlOn } from "@/lib/db/sql";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { Leg, LegChange } from "./leg";
import { writeLegs, type LegWrite } from "./leg-write-repository";
import { createKnownSets, type KnownSets } from "./known-sets";
import {
  operationIdOf,
  projectOf,
  type LegMove,
  type OperationStep,
  type SignedAgain,
  type Stepped,
} from "./step-decision";
import type { OperationKey } from "./state-repository";
import { takeKnownSteps, takeSteps } from "./step-repository";
import { createWalletTransactionRepository } from "./wallet-transaction-repository";

export type { LegMove, SignedAgain } from "./step-decision";

/** Maximum number of steps that share a transaction. */
const STEPS_MAX = 100;
/** One more batch may begin while the first waits for a lock. */
const LANES = 2;

type Sponsorship = Pick<SponsorshipService, "changeReservations" | "freeingParts">;
type Result = { readonly stepped: Stepped | null } | Error;

/**
 * Steps of operations that this instance knows take one statement. The others, and those that somebody else was faster with, take a
 * transaction, which locks and reads first.
 */
const createStepping = (database: Database, sponsorship: Sponsorship, known: KnownSets) => {
  const runKnown = async (steps: readonly OperationStep[]): Promise<Result[] | null> => {
    const sets = steps.flatMap((step) => known.get(operationIdOf(step)) ?? []);
    const workingSets = new Map(sets.map((set) => [set.row.id, set]));
    known.forget([...workingSets.keys()]);
    const taken = await database.rawStatement((sql) => takeKnownSteps(sql, sponsorship, steps, workingSets));
    if (taken === null) return null;
    known.keepTaken(taken);
    return taken.stepped.map((stepped) => ({ stepped }));
  };

  const runRead = oneByOneAfterRefusal(async (steps: readonly OperationStep[]): Promise<Exclude<Result, Error>[]> => {
    const taken = await database.rawTransaction((sql) => takeSteps(sql, sponsorship, steps), keptSqlOn);
    known.keepTaken(taken);
    return taken.stepped.map((stepped) => ({ stepped }));
  });

  return async (steps: readonly OperationStep[]): Promise<Result[]> => {
    const results = new Map<OperationStep, Result>();
    const run = async (some: readonly OperationStep[], take: typeof runKnown | typeof runRead): Promise<void> => {
      if (some.length === 0) return;
      const answers = await take(some).catch((error: unknown) => some.map(() => asError(error)));
      for (const [index, step] of some.entries()) {
        const answer = answers?.[index];
        if (answer !== undefined) results.set(step, answer);
      }
    };
    await run(
      steps.filter((step) => known.get(operationIdOf(step)) !== null),
      runKnown,
    );
    await run(
      steps.filter((step) => !results.has(step)),
      runRead,
    );
    return steps.map((step) => results.get(step) ?? new Error("The batch has no result for a step."));
  };
};

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/**
 * Changes legs as workers carry them on. Each write is a compare-and-set against the version that was read. Those that are asked for
 * while others are written share the next statement; one alone is written at once.
 */
export const createLegRepository = (
  database: Database,
  sponsorship: Sponsorship,
  known: KnownSets = createKnownSets(),
) => {
  const steps = createBatcher({
    run: eachByItself(projectOf, createStepping(database, sponsorship, known)),
    batchWeightMax: STEPS_MAX,
    lanes: LANES,
  });
  const touches = createBatcher({
    run: eachByItself(
      ({ leg }: LegWrite) => leg.projectId,
      oneByOneAfterRefusal(async (batch: readonly LegWrite[]) => {
        const written = await writeLegs(keptSqlOn(database.pool), batch);
        return batch.map((write) => ({ leg: written.get(write) ?? null }));
      }),
    ),
    batchWeightMax: STEPS_MAX,
    lanes: LANES,
  });
  const step = async (one: OperationStep): Promise<Stepped | null> => (await steps.submit(one)).stepped;

  return {
    /** pending → processing. Null when the operation is no longer pending, or awaits approval. */
    begin: ({ projectId, id }: OperationKey, now: Date): Promise<Stepped | null> =>
      step({ kind: "begin", operation: { projectId, id }, now }),

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
    touchLeg: async (leg: Leg, change: LegChange, now: Date): Promise<Leg | null> => {
      const { leg: touched } = await touches.submit({ leg, to: leg.state, change, now });
      if (touched !== null) known.keepLeg(touched);
      return touched;
    },

    /** Records a transaction that replaced a wallet's earlier one. False when it belongs to another leg already. */
    adoptTransaction: createWalletTransactionRepository(database).adopt,
  };
};

export type LegRepository = ReturnType<typeof createLegRepository>;
