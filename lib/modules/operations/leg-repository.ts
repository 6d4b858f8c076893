import type { Database, Tx } from "@/lib/db/client";
import { toDecimal } from "@/lib/db/decimal";
import { Prisma } from "@/lib/db/generated/client";
import { syncHold } from "@/lib/modules/holds/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import { toStored } from "@/lib/ports/routing-json";
import { appendEvent } from "./event-repository";
import type { Leg, LegChange } from "./leg";
import { moveReservation } from "./leg-reservations";
import { lockOperation, settleOperation } from "./state-repository";
import { LEG_TRANSITIONS, type LegState } from "./summary";
import { createWalletTransactionRepository } from "./wallet-transaction-repository";

/** A leg's step to its next state. */
export interface LegMove {
  readonly leg: Leg;
  readonly to: LegState;
  readonly change?: LegChange;
  /** Maximum cost of the signed operation for the sponsor, in wei; by default the reserved amount. */
  readonly maxGasWei?: bigint;
  readonly event: { readonly type: string; readonly data?: Record<string, unknown> };
  readonly now: Date;
}

type Signed = Required<Pick<LegChange, "userOperation" | "userOpHash" | "earlierUserOpHashes">>;

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

/** Changes single legs as workers carry them on. Each write is a compare-and-set against the version that was read. */
export const createLegRepository = (
  database: Database,
  sponsorship: Pick<SponsorshipService, "adjust" | "settle">,
) => ({
  /**
   * Moves a leg to its next state. The operation's state, holds, the sponsor's budget and events change in the same
   * transaction.
   * @returns false when another instance has moved the leg since it was read
   * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`
   */
  moveLeg: (move: LegMove): Promise<boolean> =>
    database.transaction(async (tx) => {
      const { leg, to, now } = move;
      if (!(LEG_TRANSITIONS[leg.state] as readonly LegState[]).includes(to)) {
        throw new Error(`A leg may not go from ${leg.state} to ${to}.`);
      }
      const operation = await lockOperation(tx, leg.operationId);
      const { count } = await tx.operationLeg.updateMany({
        where: { id: leg.id, version: leg.version, state: leg.state },
        data: { ...columnsOf(move.change ?? {}), state: to, version: { increment: 1 }, updatedAt: now },
      });
      if (count === 0) return false;
      await syncHold(tx, leg.id, to === "queued" || to === "submitted", now);
      await appendEvent(tx, {
        operationId: leg.operationId,
        type: move.event.type,
        data: { legId: leg.id, position: leg.position, state: to, ...move.event.data },
        now,
      });
      await settleOperation(tx, operation, now);
      await moveReservation(tx, sponsorship, { operation, move });
      return true;
    }),

  /**
   * Stores an operation that was signed again for the same nonce and calls, in place of `leg.userOperation`.
   * @returns false when another instance has moved the leg since it was read
   * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`
   */
  replaceOperation: (leg: Leg, change: Signed, maxGasWei: bigint, now: Date): Promise<boolean> =>
    database.transaction(async (tx) => {
      const operation = await lockOperation(tx, leg.operationId);
      const { count } = await tx.operationLeg.updateMany({
        where: { id: leg.id, version: leg.version, state: "submitted" },
        data: { ...columnsOf(change), version: { increment: 1 }, updatedAt: now },
      });
      if (count === 0) return false;
      const data = { legId: leg.id, position: leg.position, userOpHash: change.userOpHash };
      await appendEvent(tx, { operationId: leg.operationId, type: "leg.signed_again", data, now });
      await moveReservation(tx, sponsorship, { operation, move: { leg, to: "submitted", maxGasWei } });
      return true;
    }),

  /**
   * Stores new facts about a leg without a new state, such as its count of confirmations.
   * @returns false when another instance has moved the leg since it was read
   */
  touchLeg: async (leg: Leg, change: LegChange, now: Date): Promise<boolean> => {
    const { count } = await database.prisma.operationLeg.updateMany({
      where: { id: leg.id, version: leg.version, state: leg.state },
      data: { ...columnsOf(change), version: { increment: 1 }, updatedAt: now },
    });
    return count === 1;
  },

  /** Records a transaction that replaced a wallet's earlier one. False when it belongs to another leg already. */
  adoptTransaction: createWalletTransactionRepository(database).adopt,
});

export type LegRepository = ReturnType<typeof createLegRepository>;
