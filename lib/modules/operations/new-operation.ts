import { addSeconds } from "@/lib/core/clock";
import type { Tx } from "@/lib/db/client";
import type { JudgedPart } from "@/lib/db/together";
import type { AuditEntry } from "@/lib/modules/audit/service";
import { fundsKeyOf, type Funds } from "@/lib/modules/holds/service";
import { dayOf, type GasCost, type SponsoredLeg } from "@/lib/modules/sponsorship/service";
import type { RouteRequest, RouteSource } from "@/lib/ports/routing";
import { isHeld, sentByWallets, sponsoredLeg, acceptedLeg, type NewLeg } from "./new-leg";
import type { Operation } from "./operation";
import type { Claim, Enforce, NewOperation, NewOperationRow } from "./accept-repository";
import { searchTermsOf } from "./search";

/** The quote, transfer or earlier operation that an operation came from. */
export interface OperationOrigin {
  readonly quoteId: string;
  readonly transferId: string | null;
  /** The operation whose failed or refunded legs this one retries. */
  readonly retryOf: string | null;
}

type ClaimFunction = (tx: Tx, operationId: string, now: Date) => Promise<boolean>;

export interface StartOperation {
  projectId: string;
  /** The operation that awaited approval and starts now; without an id a new operation is created. */
  operationId?: string;
  kind: string;
  createdBy: string;
  origin: OperationOrigin;
  request: RouteRequest;
  /** The wallet of each source. */
  wallets: readonly { readonly id: string; readonly address: string }[];
  legs: readonly NewLeg[];
  /**
   * Marks the operation's origin as used, in the same transaction. False: it was used already, and nothing is stored.
   * As `parts` it is faster, for an operation that is new and not private.
   */
  claim: ClaimFunction | { readonly parts: (operationId: string, now: Date) => readonly JudgedPart[] };
  /**
   * Evaluates the policies, in the same transaction and after `claim`. Returns the id of the evaluation.
   * @throws DomainError when they refuse it, or a code is needed
   */
  enforce: Enforce;
  /** The balances of `heldSources` that the caller has read; by default they are read now. */
  seen?: readonly Funds[];
  /** As `Check.isFree`. */
  isFree?: boolean;
  /** Who approved the operation, and by which means. The audit row is written in the transaction that stores the operation. */
  audit: Omit<AuditEntry, "subject" | "at">;
}

/** The claim of this operation. */
export const claimOf = ({ claim }: StartOperation, operationId: string, now: Date): Claim =>
  typeof claim === "function" ? (tx) => claim(tx, operationId, now) : claim.parts(operationId, now);

/** The sources whose money is held for the operation; the others' wallets send it by themselves. */
export const heldSources = ({ request, legs }: StartOperation): RouteSource[] =>
  legs.filter(isHeld).flatMap(({ routeLeg }) => request.sources[routeLeg.sourceIndex] ?? []);

/** The legs for which the project's sponsor may have to pay. */
export const sponsoredLegs = ({ request, legs }: StartOperation): SponsoredLeg[] =>
  legs.flatMap((leg) => {
    const source = request.sources[leg.routeLeg.sourceIndex];
    const sponsored = source === undefined ? null : sponsoredLeg(leg, source.token.chainId);
    return sponsored ?? [];
  });

/**
 * The rows of an operation that is accepted now: the operation, its legs, their holds, and the reserved sponsor budget.
 */
export const newOperation = (
  input: StartOperation,
  { operationId, costs, now }: { operationId: string; costs: readonly GasCost[]; now: Date },
): NewOperation => {
  const { request } = input;
  const costOf = new Map(costs.map(({ legId, maxWei }) => [legId, maxWei]));
  const sponsorOf = ({ legId }: NewLeg) => {
    const maxWei = costOf.get(legId);
    return maxWei === undefined
      ? { sponsorReservedWei: null, sponsorDay: null }
      : { sponsorReservedWei: maxWei, sponsorDay: dayOf(now) };
  };
  const minimumBase = input.legs.reduce((sum, { routeLeg }) => sum + routeLeg.minOutBase, 0n);
  const expectedBase = input.legs.reduce((sum, { routeLeg }) => sum + routeLeg.expectedOutBase, 0n);
  const sources = input.legs.map(({ routeLeg }) => {
    const source = request.sources[routeLeg.sourceIndex];
    const wallet = input.wallets[routeLeg.sourceIndex];
    if (!source || !wallet) throw new Error("A leg names a source that was not asked for.");
    return { source, wallet };
  });
  return {
    audit: { ...input.audit, subject: operationId, at: now },
    awaited: input.operationId !== undefined,
    transferId: input.origin.transferId,
    operation: {
      id: operationId,
      projectId: input.projectId,
      kind: input.kind,
      status: "pending",
      subStatus: "prepared",
      request,
      quoted: { expectedBase },
      minimumBase,
      createdBy: input.createdBy,
      searchTerms: searchTermsOf(request, input.wallets, [input.origin.quoteId, input.origin.transferId]),
      retryOf: input.origin.retryOf,
      acceptedAt: now,
      createdAt: now,
      updatedAt: now,
      expiresAt: null,
    },
    legs: input.legs.map((leg, position) => {
      const at = sources[position];
      if (!at) throw new Error("A leg has no source.");
      const destinationChainId = request.destination.token.chainId;
      return acceptedLeg(leg, {
        projectId: input.projectId,
        operationId,
        position,
        walletId: at.wallet.id,
        source: at.source,
        destinationChainId,
        sponsor: sponsorOf(leg),
        now,
      });
    }),
    holds: input.legs.flatMap((leg, position) => {
      const source = sources[position]?.source;
      if (!source) throw new Error("A leg has no source.");
      return isHeld(leg) ? [{ ...fundsKeyOf(source), legId: leg.legId, amountBase: source.amountBase }] : [];
    }),
    costs,
    sentByWallets: sentByWallets(input.legs),
  };
};

/** An operation that was not stored before, as the transaction that accepted it has stored it. */
export const acceptedOperation = ({ operation, legs }: NewOperation, evaluationId: string): Operation => {
  return { ...operation, evaluationId, failure: null, retriedBy: null, gasWaits: [], legs };
};

/** An operation that awaits approval. It has a request but no legs yet. */
export interface AwaitingOperation {
  projectId: string;
  kind: string;
  createdBy: string;
  origin: OperationOrigin;
  request: RouteRequest;
  wallets: readonly { readonly id: string }[];
  expectedBase: bigint;
  /** The minimum output that the approval promises. */
  minimumBase: bigint;
  /** Counted from its creation. */
  expiresAfterSeconds: number;
  /**
   * Marks the operation's origin as used, in the same transaction.
   * @throws DomainError when it was used already
   */
  claim: (tx: Tx, operationId: string) => Promise<void>;
}

export const awaitingOperation = (input: AwaitingOperation, operationId: string, now: Date): NewOperationRow => ({
  id: operationId,
  projectId: input.projectId,
  kind: input.kind,
  status: "pending",
  subStatus: "awaiting_approval",
  request: input.request,
  quoted: { expectedBase: input.expectedBase },
  minimumBase: input.minimumBase,
  createdBy: input.createdBy,
  searchTerms: searchTermsOf(input.request, input.wallets, [input.origin.quoteId, input.origin.transferId]),
  retryOf: input.origin.retryOf,
  acceptedAt: null,
  createdAt: now,
  updatedAt: now,
  expiresAt: addSeconds(now, input.expiresAfterSeconds),
});
