import type { SignedPermit } from "@/lib/chain/smart-accounts/service";
import { dayOf, type GasCost, type SponsoredLeg } from "@/lib/books/sponsorship/service";
import type { UserOperation, UserOperationGas } from "@/lib/chain/ports/bundler";
import type { RouteLeg } from "@/lib/money/ports/routing";
import type { RouteRequest, RouteSource } from "@/lib/core/route-request";
import type { Leg } from "./leg";
import type { BalanceChange, WalletTransaction } from "./rows";
import type {
  Claim,
  Enforce,
  NewOperation,
  NewOperationRow,
  SentByWallet,
} from "./accept-repository";
import { addSeconds } from "@/lib/core/clock";
import type { Tx } from "@/lib/platform/db/client";
import type { AuditEntry } from "@/lib/news/audit/service";
import { type Funds, fundsKeyOf } from "@/lib/books/holds/service";
import type { Operation } from "./operation";
import { searchTermsOf } from "./search";

type Hex = `0x${string}`;

interface LegBase {
  readonly legId: string;
  readonly routeLeg: RouteLeg;
}

/** A leg that the service signs when a worker drives it. */
interface ServiceSigned extends LegBase {
  readonly via: "user_operation";
  /**
   * False when the leg's calls only bring money to the wallet. Nothing of the wallet's balance is
   * then held.
   */
  readonly takesMoney?: boolean;
  readonly gas: UserOperationGas;
  readonly signed?: never;
}

interface OwnerSigned extends LegBase {
  readonly via: "user_operation";
  readonly takesMoney?: never;
  readonly gas: UserOperationGas;
  readonly signed: {
    readonly operation: UserOperation;
    readonly userOpHash: Hex;
    readonly validUntil: Date;
    readonly fillDeadline: Date | null;
    readonly fromBlock: bigint;
  };
}

/** A leg whose wallet has sent the transactions, or claims so. */
interface WalletSent extends LegBase {
  readonly via: "transaction";
  readonly chainId: number;
  readonly transactions: readonly WalletTransaction[];
  readonly fromNonce: number;
  /** After this time the transactions can move no money; null when they never expire. */
  readonly validUntil: Date | null;
  readonly fillDeadline: Date | null;
  readonly fromBlock: bigint;
}

/**
 * A leg for which the wallet signed a permit. With the permit, the wallet `executorWalletId` takes
 * the tokens and makes the leg's calls.
 */
interface Permitted extends LegBase {
  readonly via: "permit";
  readonly gas: UserOperationGas;
  readonly executorWalletId: string;
  readonly permit: SignedPermit;
}

export type NewLeg = ServiceSigned | OwnerSigned | WalletSent | Permitted;

const UNSEEN = {
  spentBase: null,
  receivedBase: null,
  fillDeadline: null,
  executorWalletId: null,
  walletTransactions: null,
  permit: null,
  userOperation: null,
  userOpHash: null,
  earlierUserOpHashes: [],
  gas: null,
  validUntil: null,
  fromBlock: 0n,
  sourceTxHash: null,
  sourceBlock: null,
  sourceConfirmations: 0,
  gasCostWei: null,
  gasPaidBy: null,
  deposit: null,
  depositedBase: null,
  destTxHash: null,
  destBlock: null,
  destConfirmations: 0,
  refundTxHash: null,
  refundBlock: null,
  refundedBase: null,
  refundToken: null,
  refundAttention: null,
  failure: null,
  version: 0,
} as const satisfies Partial<Leg>;

const ownFields = (leg: NewLeg): Pick<Leg, "state" | "via"> & Partial<Leg> => {
  switch (leg.via) {
    case "user_operation": {
      const { via, gas, signed } = leg;
      if (signed === undefined) return { state: "queued", via, gas };
      const { operation, ...rest } = signed;
      return { state: "submitted", via, gas, userOperation: operation, ...rest };
    }
    case "transaction": {
      const { via, transactions, fromNonce, validUntil, fillDeadline, fromBlock } = leg;
      const walletTransactions = { transactions: [...transactions], fromNonce };
      return {
        state: "submitted",
        via,
        walletTransactions,
        validUntil,
        fillDeadline,
        fromBlock,
      };
    }
    case "permit": {
      const { via, gas, executorWalletId, permit } = leg;
      return { state: "queued", via, gas, executorWalletId, permit };
    }
  }
};

export const acceptedLeg = (
  leg: NewLeg,
  at: {
    projectId: string;
    operationId: string;
    position: number;
    walletId: string;
    source: RouteSource;
    destinationChainId: number;
    /** Maximum cost of the leg for the sponsor, and the UTC day whose budget is charged. */
    sponsor: Pick<Leg, "sponsorReservedWei" | "sponsorDay">;
    now: Date;
  },
): Leg => ({
  ...UNSEEN,
  id: leg.legId,
  projectId: at.projectId,
  operationId: at.operationId,
  position: at.position,
  walletId: at.walletId,
  walletAddress: at.source.owner,
  sourceChainId: at.source.token.chainId,
  destChainId: at.destinationChainId,
  routeLeg: leg.routeLeg,
  amountBase: at.source.amountBase,
  updatedAt: at.now,
  ...at.sponsor,
  ...ownFields(leg),
});

/**
 * Whether the leg's money is held. A wallet that sends its own transactions may have sent the
 * money before execute was called, so a hold would prevent nothing.
 */
const isHeld = (leg: NewLeg): boolean =>
  leg.via !== "transaction" && !(leg.via === "user_operation" && leg.takesMoney === false);

/** The part of a leg that the sponsor may pay for. Null when a wallet pays for its transactions. */
const sponsoredLeg = (leg: NewLeg, chainId: number): SponsoredLeg | null => {
  if (leg.via === "transaction") return null;
  const { legId, gas, signed } = { signed: undefined, ...leg };
  return {
    legId,
    chainId,
    gas,
    ...(signed === undefined ? {} : { operation: signed.operation }),
  };
};

/** The transactions that wallets reported as sent. A hash belongs to at most one leg. */
const sentByWallets = (legs: readonly NewLeg[]): SentByWallet[] =>
  legs.flatMap((leg) =>
    leg.via === "transaction"
      ? leg.transactions.map(({ hash, actionId }) => ({
          chainId: leg.chainId,
          hash,
          actionId,
          legId: leg.legId,
        }))
      : [],
  );

interface OperationOrigin {
  readonly quoteId: string;
  readonly transferId: string | null;
  readonly retryOf: string | null;
}

export interface StartOperation {
  projectId: string;
  /**
   * The id of the operation that awaited approval and starts now. Without this id a new operation
   * is created.
   */
  operationId?: string;
  kind: string;
  createdBy: string;
  origin: OperationOrigin;
  request: RouteRequest;
  wallets: readonly { readonly id: string; readonly address: string }[];
  legs: readonly NewLeg[];
  /** Marks the operation's origin as used, in the same transaction. */
  claim: Claim;
  /**
   * Evaluates the policies, in the same transaction and after `claim`. Returns the id of the
   * evaluation.
   * @throws DomainError when the policies refuse the operation, or require a code
   */
  enforce: Enforce;
  /** The balances of `heldSources`, if the caller has read them; by default they are read now. */
  seen?: readonly Funds[];
  /**
   * Who approved the operation, and with which proof. Written in the transaction that stores the
   * operation.
   */
  audit: Omit<AuditEntry, "subject" | "at">;
}

/** The sources whose money is held. Wallets send the money of the other sources themselves. */
export const heldSources = ({ request, legs }: StartOperation): RouteSource[] =>
  legs.filter(isHeld).flatMap(({ routeLeg }) => request.sources[routeLeg.sourceIndex] ?? []);

export const sponsoredLegs = ({ request, legs }: StartOperation): SponsoredLeg[] =>
  legs.flatMap((leg) => {
    const source = request.sources[leg.routeLeg.sourceIndex];
    const sponsored = source === undefined ? null : sponsoredLeg(leg, source.token.chainId);
    return sponsored ?? [];
  });

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
  const expectedBase = input.legs.reduce(
    (sum, { routeLeg }) => sum + routeLeg.expectedOutBase,
    0n,
  );
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
      searchTerms: searchTermsOf(request, input.wallets, [
        input.origin.quoteId,
        input.origin.transferId,
      ]),
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
      return isHeld(leg)
        ? [{ ...fundsKeyOf(source), legId: leg.legId, amountBase: source.amountBase }]
        : [];
    }),
    costs,
    sentByWallets: sentByWallets(input.legs),
  };
};

/**
 * Returns a new operation in the form in which it is stored when it is accepted. Not for an
 * operation that awaited approval, because that operation is stored already.
 */
export const acceptedOperation = (
  { operation, legs }: NewOperation,
  evaluationId: string,
): Operation => {
  return { ...operation, evaluationId, failure: null, retriedBy: null, gasWaits: [], legs };
};

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
  /** The balance changes of the last simulation; absent when nothing was simulated. */
  balanceChanges?: readonly BalanceChange[];
  /** Seconds after its creation until the operation expires. */
  expiresAfterSeconds: number;
  /**
   * Marks the operation's origin as used, in the same transaction.
   * @throws DomainError when the origin was used already
   */
  claim: (tx: Tx, operationId: string) => Promise<void>;
}

export const awaitingOperation = (
  input: AwaitingOperation,
  operationId: string,
  now: Date,
): NewOperationRow => ({
  id: operationId,
  projectId: input.projectId,
  kind: input.kind,
  status: "pending",
  subStatus: "awaiting_approval",
  request: input.request,
  quoted: {
    expectedBase: input.expectedBase,
    ...(input.balanceChanges === undefined ? {} : { balanceChanges: input.balanceChanges }),
  },
  minimumBase: input.minimumBase,
  createdBy: input.createdBy,
  searchTerms: searchTermsOf(input.request, input.wallets, [
    input.origin.quoteId,
    input.origin.transferId,
  ]),
  retryOf: input.origin.retryOf,
  acceptedAt: null,
  createdAt: now,
  updatedAt: now,
  expiresAt: addSeconds(now, input.expiresAfterSeconds),
});
