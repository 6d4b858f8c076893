import { createBatcher } from "@/lib/core/batch";
import { oneByOneAfterRefusal } from "@/lib/db/batches";
import type { Database, Tx } from "@/lib/db/client";
import { toDecimal } from "@/lib/db/decimal";
import { Prisma } from "@/lib/db/generated/client";
import { keptSqlOn } from "@/lib/db/sql";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import { toStored } from "@/lib/ports/routing-json";
import type { Leg, LegChange } from "./leg";
import { writeLegs, type LegWrite } from "./leg-write-repository";
import { takeSteps, type LegMove, type OperationStep, type SignedAgain, type Stepped } from "./step-repository";
import { createWalletTransactionRepository } from "./wallet-transaction-repository";

export type { LegMove, SignedAgain } from "./step-repository";

const json = (value: unknown) => (value === null || value === undefined ? Prisma.DbNull : toStored(value));
const decimal = (value: bigint | null) => (value === null ? null : toDecimal(value));

/** Conversions of fields whose columns have another form. */
const STORED = {
  amountBase: toDecimal,
  spentBase: decimal,
  receivedBase: decimal,
  refundedBase: decimal,
  gasCostWei: decimal,
  sponsorReservedWei: decimal,
  routeLeg: toStored,
  // The column is not nullable; a wallet's own transactions have no gas limits of ours.
  gas: (value: Leg["gas"]) => toStored(value ?? {}),
  walletTransactions: json,
  permit: json,
  userOperation: json,
  earlierUserOpHashes: (hashes: Leg["earlierUserOpHashes"]) => [...hashes],
  deposit: json,
  refundToken: json,
  refundAttention: json,
  failure: json,
} as const satisfies { readonly [Field in keyof Leg]?: (value: never) => unknown };

type StoredColumns<Fields> = {
  [Field in keyof Fields]: Field extends keyof typeof STORED ? ReturnType<(typeof STORED)[Field]> : Fields[Field];
};

/** The columns for the given fields. */
const columnsOf = <Fields extends Partial<Leg>>(fields: Fields): StoredColumns<Fields> =>
  Object.fromEntries(
    Object.entries(fields).map(([field, value]) => {
      const stored = STORED[field as keyof typeof STORED] as ((value: unknown) => unknown) | undefined;
      return [field, stored === undefined ? value : stored(value)];
    }),
  ) as StoredColumns<Fields>;

/** Stores the legs of an operation, in the transaction that accepts it. */
export const insertLegs = async (tx: Tx, legs: readonly Leg[]): Promise<void> => {
  const data = legs.map((leg) => ({ ...columnsOf(leg), kind: leg.routeLeg.kind }));
  await tx.operationLeg.createMany({ data });
};

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
  sponsorship: Pick<SponsorshipService, "changeReservations">,
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
