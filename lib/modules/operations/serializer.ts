import type { z } from "zod";
import type { legRecord, operationEvent, operationRecord } from "@/lib/contracts/operation-records";
import { shownChain, shownCoin, type ChainFacts } from "@/lib/chains/shown-chain";
import { formatAmount } from "@/lib/core/money";
import type { Status } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import { amountRecord, tokenRecord } from "./amount-serializer";
import { DEPOSIT_KIND } from "./deposit-kind";
import { csvHeader, csvLines, type CsvAnnotation } from "./csv";
import { mayOf } from "./permissions";
import { toGasWait } from "./gas-wait-serializer";
import { isPrivateKind } from "./private-kinds";
import { toRefundAttention } from "./refund-serializer";
import { gasWaitsOf, holdingsOf, nextActionOf, type Holding, type LegView } from "./outcome";
import type { Leg } from "./leg";
import type { Operation, OperationEvent } from "./operation";
import { isLegFinal, type LegState } from "./summary";

type OperationRecord = z.output<typeof operationRecord>;
type LegRecord = z.output<typeof legRecord>;
type DepositRecord = NonNullable<OperationRecord["deposit"]>;

const LEG_STATUS: Record<LegState, Status> = {
  queued: "processing",
  submitted: "processing",
  source_seen: "processing",
  bridging: "processing",
  filled_seen: "processing",
  refunding: "processing",
  refund_seen: "processing",
  needs_attention: "processing",
  completed: "completed",
  failed: "failed",
  refunded: "refunded",
};

const transaction = (
  chains: ChainFacts,
  at: { chainId: number; hash: string | null; block: bigint | null; confirmations: number; isLegFinal: boolean },
) => {
  const { confirmations, explorerUrl } = shownChain(chains, at.chainId);
  return {
    chainId: at.chainId,
    txHash: at.hash,
    blockNumber: at.block === null ? null : at.block.toString(),
    confirmations: at.hash === null ? 0 : at.confirmations,
    // How many a chain needed that was taken out of the configuration is not known; those of a final leg were enough.
    confirmationsNeeded: confirmations ?? Math.max(1, at.isLegFinal ? at.confirmations : at.confirmations + 1),
    explorerUrl: at.hash === null || explorerUrl === undefined ? null : `${explorerUrl}/tx/${at.hash}`,
  };
};

/** A leg of an operation that has not begun, or never did, has no status of its own. */
const legStatus = (operation: Operation, leg: Leg): Status =>
  operation.status === "pending" || operation.status === "cancelled" || operation.status === "expired"
    ? operation.status
    : LEG_STATUS[leg.state];

const toLeg = (operation: Operation, { leg, source, destination }: LegView, chains: ChainFacts): LegRecord => {
  const { routeLeg, spentBase, receivedBase } = leg;
  const refunded = leg.refundTxHash !== null;
  const isFinalLeg = isLegFinal(leg.state);
  return {
    ...transaction(chains, {
      chainId: leg.sourceChainId,
      hash: leg.sourceTxHash,
      block: leg.sourceBlock,
      confirmations: leg.sourceConfirmations,
      isLegFinal: isFinalLeg,
    }),
    id: leg.id,
    provider: routeLeg.provider,
    kind: routeLeg.kind,
    status: legStatus(operation, leg),
    state: leg.state,
    walletId: leg.walletId,
    walletAddress: leg.walletAddress,
    via: leg.via,
    route: {
      estimatedSeconds: routeLeg.estimatedSeconds,
      steps: routeLeg.steps.map(({ kind, venue }) => ({ kind, venue })),
    },
    sent: amountRecord(source.token, source.amountBase),
    spent: spentBase === null ? null : amountRecord(source.token, spentBase),
    minimum: amountRecord(destination.token, routeLeg.minOutBase),
    received: receivedBase === null ? null : amountRecord(destination.token, receivedBase),
    destination:
      leg.destTxHash === null
        ? null
        : transaction(chains, {
            chainId: leg.destChainId,
            hash: leg.destTxHash,
            block: leg.destBlock,
            confirmations: leg.destConfirmations,
            isLegFinal: isFinalLeg,
          }),
    refund: refunded
      ? transaction(chains, {
          chainId: leg.sourceChainId,
          hash: leg.refundTxHash,
          block: leg.refundBlock,
          confirmations: leg.destConfirmations,
          isLegFinal: isFinalLeg,
        })
      : null,
    fillDeadline: leg.fillDeadline === null ? null : leg.fillDeadline.toISOString(),
    attention: toRefundAttention({ leg, source, destination }, chains),
    failure: leg.failure,
  };
};

const viewsOf = ({ legs, request }: Operation): LegView[] =>
  legs.map((leg) => {
    const source = request.sources[leg.routeLeg.sourceIndex];
    if (source === undefined) throw new Error(`Leg ${leg.id} has no source.`);
    return { leg, source, destination: request.destination };
  });

/** Where the money is of an operation that has no legs yet or ended before it got any. */
const untouched = ({ status, request }: Operation): Holding[] =>
  request.sources.map(({ owner, token, amountBase }) => ({
    wallet: owner,
    token,
    amountBase,
    txHash: null,
    note:
      status === "pending"
        ? "in the source wallet, until somebody approves"
        : "in the source wallet; nothing was taken",
  }));

/** A deposit is in its wallet from the first block on. One that a reorganisation removed never left its sender. */
const inDeposit = ({ status, subStatus, request, minimumBase: amountBase }: Operation): Holding[] => {
  if (status === "failed") return [];
  const { token, recipient: wallet } = request.destination;
  const note =
    subStatus === "quarantined"
      ? "in the wallet, and kept back until a person releases it"
      : status === "completed"
        ? "received"
        : "in the wallet, until its block is final";
  return [{ wallet, token, amountBase, txHash: null, note }];
};

/** Where the money of a private operation is: in its notes until their transactions are final, then with the recipient. */
const withoutLegs = (operation: Operation): Holding[] => {
  if (operation.kind === DEPOSIT_KIND) return inDeposit(operation);
  // Nothing is said about money of which the record cannot be read.
  if (operation.isIncomplete === true) return [];
  if (!isPrivateKind(operation.kind) || operation.status === "pending") return untouched(operation);
  const { request } = operation;
  const { receivedBase = 0n, spentBase = 0n } = operation.quoted;
  const { token, recipient } = request.destination;
  const arrived = { wallet: recipient, token, amountBase: receivedBase, txHash: null, note: "received" };
  const left = request.sources.map(({ owner, token: paid, amountBase }) => ({
    wallet: owner,
    token: paid,
    amountBase: amountBase - spentBase,
    txHash: null,
    note: "in the private wallet's notes, until their transactions are final",
  }));
  return [...(receivedBase > 0n ? [arrived] : []), ...left.filter(({ amountBase }) => amountBase > 0n)];
};

const quotedFees = (views: readonly LegView[]): OperationRecord["fees"] =>
  views
    .flatMap((view) => view.leg.routeLeg.fees)
    .map(({ kind, amountBase, token }) => ({
      kind,
      amount: formatAmount(amountBase, token.decimals),
      token: tokenRecord(token),
    }));

const tokensOf = ({ leg, source, destination }: LegView): readonly Token[] => [
  source.token,
  destination.token,
  ...leg.routeLeg.steps.flatMap(({ from, to }) => [from, to]),
];

/** The network fees of legs whose source is mined. */
const networkFees = (views: readonly LegView[], chains: ChainFacts): OperationRecord["fees"] =>
  views.flatMap((view) => {
    const { leg } = view;
    const costWei = leg.gasCostWei;
    if (costWei === null) return [];
    const token = shownCoin(chains, leg.sourceChainId, tokensOf(view));
    const paidBy = leg.gasPaidBy === "sponsor" ? "sponsor" : "wallet";
    return [{ kind: "network", amount: formatAmount(costWei, token.decimals), token, paidBy }];
  });

/** The operation as the caller sees it, with where each part of the money is. @param deposit of an operation that is a deposit */
export const toOperation = (
  operation: Operation,
  chains: ChainFacts,
  deposit: DepositRecord | null = null,
): OperationRecord => {
  const { request } = operation;
  const { token, recipient } = request.destination;
  const views = viewsOf(operation);
  const { expectedBase: expected, spentBase, receivedBase = 0n } = operation.quoted;
  const received = views.reduce((sum, { leg }) => sum + (leg.receivedBase ?? 0n), receivedBase);
  return {
    operationId: operation.id,
    kind: operation.kind as OperationRecord["kind"],
    status: operation.status,
    subStatus: operation.subStatus,
    quoted: {
      from: request.sources.map((source) => ({
        ...amountRecord(source.token, source.amountBase),
        address: source.owner,
        chainId: source.token.chainId,
      })),
      to: {
        chainId: token.chainId,
        address: recipient,
        token: tokenRecord(token),
        amount: formatAmount(expected, token.decimals),
        minAmount: formatAmount(operation.minimumBase, token.decimals),
      },
    },
    actual: {
      spent:
        spentBase === undefined
          ? views.map(({ leg, source }) => amountRecord(source.token, leg.spentBase ?? 0n))
          : request.sources.map(({ token: paid }) => amountRecord(paid, spentBase)),
      received: amountRecord(token, received),
    },
    legs: views.map((view) => toLeg(operation, view, chains)),
    fees: [...quotedFees(views), ...networkFees(views, chains)],
    failure: operation.failure,
    waitsForGas: gasWaitsOf(operation).map(toGasWait),
    deposit,
    outcome: {
      holds: (views.length === 0 ? withoutLegs(operation) : views.flatMap((view) => holdingsOf(view))).map(
        ({ token: held, amountBase, ...place }) => ({
          ...place,
          chainId: held.chainId,
          token: tokenRecord(held),
          amount: formatAmount(amountBase, held.decimals),
          amountBase: amountBase.toString(),
        }),
      ),
      nextAction: nextActionOf(operation, views, chains),
    },
    evaluationId: operation.evaluationId,
    retryOf: operation.retryOf,
    retriedBy: operation.retriedBy,
    may: mayOf(operation),
    createdBy: operation.createdBy,
    createdAt: operation.createdAt.toISOString(),
    updatedAt: operation.updatedAt.toISOString(),
    expiresAt: operation.expiresAt === null ? null : operation.expiresAt.toISOString(),
  };
};

export const toOperationEvent = (event: OperationEvent): z.output<typeof operationEvent> => ({
  seq: event.seq,
  type: event.type,
  operationId: event.operationId,
  data: { ...event.data },
  createdAt: event.createdAt.toISOString(),
});

interface AnnotatedRow {
  readonly operation: Operation;
  readonly annotation: CsvAnnotation | null;
}

const CSV_BATCH = 100;

/**
 * The lines of a CSV file (RFC 4180), generated while the list is read.
 * @param depositsOf the deposits among some operations, by their ids
 */
export const operationsCsv = async function* (
  operations: AsyncIterable<AnnotatedRow>,
  chains: ChainFacts,
  depositsOf: (operations: readonly Operation[]) => Promise<ReadonlyMap<string, DepositRecord>>,
): AsyncGenerator<string> {
  yield csvHeader();
  const linesOf = async (batch: readonly AnnotatedRow[]): Promise<string> => {
    const deposits = await depositsOf(batch.map(({ operation }) => operation));
    return batch
      .map(({ operation, annotation }) =>
        csvLines(toOperation(operation, chains, deposits.get(operation.id) ?? null), annotation),
      )
      .join("");
  };
  let batch: AnnotatedRow[] = [];
  for await (const row of operations) {
    batch.push(row);
    if (batch.length < CSV_BATCH) continue;
    yield await linesOf(batch);
    batch = [];
  }
  if (batch.length > 0) yield await linesOf(batch);
};
