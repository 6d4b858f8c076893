import { formatAmount } from "@/lib/core/money";
import { toAmountRecord, type Token, toTokenRecord } from "@/lib/core/token";
import type { z } from "zod";
import type {
  legRecord,
  operationEvent,
  operationRecord,
} from "@/lib/contracts/operation-records";
import { type CsvCell, csvLine, type CsvText, joinCsv } from "@/lib/core/csv";
import { formatGwei } from "viem";
import type { gasWaitRecord } from "@/lib/contracts/gas-wait";
import type { GasWait } from "./gas-wait";
import { type ChainFacts, shownChain, shownCoin } from "@/lib/chain/shown-chain";
import {
  bridgeStep,
  gasWaitsOf,
  type LegView,
  type Outcome,
  outcomeOf,
  viewsOf,
} from "./outcome";
import { NO_ATTENTION } from "./refund-attention";
import type { Status } from "@/lib/core/status";
import { mayOf } from "./permissions";
import type { Leg } from "./leg";
import type { Operation } from "./operation";
import type { OperationEvent } from "./rows";
import { isLegFinal, type LegState } from "./summary";

type OperationRecord = z.output<typeof operationRecord>;
type ExportedLeg = OperationRecord["legs"][number];

interface CsvAnnotation {
  readonly memo: string;
  readonly tags: readonly string[];
}

interface Row {
  readonly operation: OperationRecord;
  readonly annotation: CsvAnnotation | null;
  readonly source: OperationRecord["quoted"]["from"][number] | null;
  readonly leg: ExportedLeg | null;
}

type Column = readonly [name: string, cell: (row: Row) => CsvCell];

const COLUMNS: readonly Column[] = [
  ["operation_id", ({ operation }) => operation.operationId],
  ["kind", ({ operation }) => operation.kind],
  ["status", ({ operation }) => operation.status],
  ["sub_status", ({ operation }) => operation.subStatus],
  ["created_at", ({ operation }) => operation.createdAt],
  ["updated_at", ({ operation }) => operation.updatedAt],
  ["created_by", ({ operation }) => operation.createdBy],
  ["leg_id", ({ leg }) => leg?.id ?? null],
  ["leg_status", ({ leg }) => leg?.status ?? null],
  ["from_address", ({ source, leg }) => leg?.walletAddress ?? source?.address ?? null],
  ["from_chain_id", ({ source, leg }) => leg?.chainId ?? source?.chainId ?? null],
  ["from_token", ({ source, leg }) => leg?.sent.token.symbol ?? source?.token.symbol ?? null],
  ["sent", ({ source, leg }) => leg?.sent.amount ?? source?.amount ?? null],
  ["spent", ({ leg }) => leg?.spent?.amount ?? null],
  ["to_address", ({ operation }) => operation.quoted.to.address],
  ["to_chain_id", ({ operation }) => operation.quoted.to.chainId],
  ["to_token", ({ operation }) => operation.quoted.to.token.symbol],
  ["minimum", ({ operation, leg }) => leg?.minimum.amount ?? operation.quoted.to.minAmount],
  [
    "received",
    ({ leg, operation }) => leg?.received?.amount ?? operation.deposit?.received.amount ?? null,
  ],
  ["source_tx_hash", ({ leg }) => leg?.txHash ?? null],
  [
    "destination_tx_hash",
    ({ leg, operation }) => leg?.destination?.txHash ?? operation.deposit?.txHash ?? null,
  ],
  ["refund_tx_hash", ({ leg }) => leg?.refund?.txHash ?? null],
  ["failure_code", ({ leg }) => leg?.failure?.code ?? null],
  ["failure", ({ leg }) => leg?.failure?.message ?? null],
  ["memo", ({ annotation }) => annotation?.memo ?? null],
  ["tags", ({ annotation }) => annotation?.tags.join(", ") ?? null],
];

const csvHeader = (): CsvText => csvLine(COLUMNS.map(([name]) => name));

const csvLines = (operation: OperationRecord, annotation: CsvAnnotation | null): CsvText => {
  const legs: readonly (ExportedLeg | null)[] =
    operation.legs.length > 0 ? operation.legs : [null];
  const source = operation.quoted.from[0] ?? null;
  return joinCsv(
    legs.map((leg) =>
      csvLine(COLUMNS.map(([, cell]) => cell({ operation, annotation, source, leg }))),
    ),
  );
};

/** Converts a wait for a lower network fee to its record, with prices in gwei per unit of gas. */
const toGasWait = ({
  chainId,
  pricePerGas,
  capPerGas,
  since,
}: GasWait): z.output<typeof gasWaitRecord> => ({
  chainId,
  priceGwei: formatGwei(pricePerGas),
  capGwei: formatGwei(capPerGas),
  since: since.toISOString(),
});

const UNCLEAR =
  "The bridge paid the wallet, but the chains do not show for certain that this refund is in it. Compare the payments with what the bridge owes, then decide.";
const OVERDUE =
  "The bridge has not refunded this within a day after its deadline, as far as the chains show. Look in the wallet's history for a payment, or ask the bridge with the deposit's transaction, then decide.";

/**
 * The facts that a person needs to decide about a refund; null for a leg that needs no attention.
 */
const toRefundAttention = (
  view: LegView,
  chains: ChainFacts,
): z.output<typeof legRecord>["attention"] => {
  const { leg } = view;
  if (leg.state !== "needs_attention") return null;
  const { doubts, setAside } = leg.refundAttention ?? NO_ATTENTION;
  const { token, amountBase } = bridgeStep(view);
  const { explorerUrl } = shownChain(chains, leg.sourceChainId);
  return {
    reason: doubts.length === 0 ? "overdue" : "unclear_payment",
    message: doubts.length === 0 ? OVERDUE : UNCLEAR,
    expected: toAmountRecord(token, amountBase),
    depositTxHash: leg.sourceTxHash,
    payments: doubts.map(({ chainId, txHash, paidBase, reason }) => ({
      chainId,
      txHash,
      explorerUrl: explorerUrl === undefined ? null : `${explorerUrl}/tx/${txHash}`,
      paid: toAmountRecord(token, paidBase),
      reason,
    })),
    setAside: setAside.length,
  };
};

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
  at: {
    chainId: number;
    hash: string | null;
    block: bigint | null;
    confirmations: number;
    isLegFinal: boolean;
  },
) => {
  const { confirmations, explorerUrl } = shownChain(chains, at.chainId);
  return {
    chainId: at.chainId,
    txHash: at.hash,
    blockNumber: at.block === null ? null : at.block.toString(),
    confirmations: at.hash === null ? 0 : at.confirmations,
    // The required number of confirmations is unknown for a chain that was removed from the
    // configuration. The confirmations of a final leg were enough; any other leg needs at least
    // one more.
    confirmationsNeeded:
      confirmations ?? Math.max(1, at.isLegFinal ? at.confirmations : at.confirmations + 1),
    explorerUrl:
      at.hash === null || explorerUrl === undefined ? null : `${explorerUrl}/tx/${at.hash}`,
  };
};

/**
 * Returns the status of a leg. A leg of an operation that is pending or never began has the
 * operation's status.
 */
const legStatus = (operation: Operation, leg: Leg): Status =>
  operation.status === "pending" ||
  operation.status === "cancelled" ||
  operation.status === "expired"
    ? operation.status
    : LEG_STATUS[leg.state];

const toLeg = (operation: Operation, view: LegView, chains: ChainFacts): LegRecord => {
  const { leg, source, destination } = view;
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
    sent: toAmountRecord(source.token, source.amountBase),
    spent: spentBase === null ? null : toAmountRecord(source.token, spentBase),
    minimum: toAmountRecord(destination.token, routeLeg.minOutBase),
    received: receivedBase === null ? null : toAmountRecord(destination.token, receivedBase),
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
    attention: toRefundAttention(view, chains),
    failure: leg.failure,
  };
};

const quotedFees = (views: readonly LegView[]): OperationRecord["fees"] =>
  views
    .flatMap((view) => view.leg.routeLeg.fees)
    .map(({ kind, amountBase, token }) => ({
      kind,
      amount: formatAmount(amountBase, token.decimals),
      token: toTokenRecord(token),
    }));

const tokensOf = ({ leg, source, destination }: LegView): readonly Token[] => [
  source.token,
  destination.token,
  ...leg.routeLeg.steps.flatMap(({ from, to }) => [from, to]),
];

const networkFees = (views: readonly LegView[], chains: ChainFacts): OperationRecord["fees"] =>
  views.flatMap((view) => {
    const { leg } = view;
    const costWei = leg.gasCostWei;
    if (costWei === null) return [];
    const token = shownCoin(chains, leg.sourceChainId, tokensOf(view));
    const paidBy = leg.gasPaidBy === "sponsor" ? "sponsor" : "wallet";
    return [{ kind: "network", amount: formatAmount(costWei, token.decimals), token, paidBy }];
  });

export const toOutcomeRecord = ({
  sentence,
  holdings,
  nextAction,
}: Outcome): OperationRecord["outcome"] => {
  const holds = holdings.map(({ token, amountBase, ...place }) => ({
    ...place,
    chainId: token.chainId,
    token: toTokenRecord(token),
    amount: formatAmount(amountBase, token.decimals),
    amountBase: amountBase.toString(),
  }));
  return { sentence, holds, nextAction };
};

export const toOutcome = (
  operation: Operation,
  chains: ChainFacts,
): OperationRecord["outcome"] => toOutcomeRecord(outcomeOf(operation, chains));

export const toOperation = (
  operation: Operation,
  chains: ChainFacts,
  deposit: DepositRecord | null = null,
): OperationRecord => {
  const { request } = operation;
  const { token, recipient } = request.destination;
  const views = viewsOf(operation);
  const {
    expectedBase: expected,
    balanceChanges = [],
    spentBase,
    receivedBase = 0n,
  } = operation.quoted;
  const received = views.reduce((sum, { leg }) => sum + (leg.receivedBase ?? 0n), receivedBase);
  return {
    id: operation.id,
    operationId: operation.id,
    kind: operation.kind as OperationRecord["kind"],
    status: operation.status,
    subStatus: operation.subStatus,
    quoted: {
      from: request.sources.map((source) => ({
        ...toAmountRecord(source.token, source.amountBase),
        address: source.owner,
        chainId: source.token.chainId,
      })),
      to: {
        chainId: token.chainId,
        address: recipient,
        token: toTokenRecord(token),
        amount: formatAmount(expected, token.decimals),
        minAmount: formatAmount(operation.minimumBase, token.decimals),
      },
      balanceChanges: [...balanceChanges],
    },
    actual: {
      spent:
        spentBase === undefined
          ? views.map(({ leg, source }) => toAmountRecord(source.token, leg.spentBase ?? 0n))
          : request.sources.map(({ token: paid }) => toAmountRecord(paid, spentBase)),
      received: toAmountRecord(token, received),
    },
    legs: views.map((view) => toLeg(operation, view, chains)),
    fees: [...quotedFees(views), ...networkFees(views, chains)],
    failure: operation.failure,
    waitsForGas: gasWaitsOf(operation).map(toGasWait),
    deposit,
    outcome: toOutcome(operation, chains),
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
 * Yields the lines of a CSV file (RFC 4180) while the list is read.
 * @param depositsOf reads the deposits of these operations; the keys of the map are operation ids
 */
export const operationsCsv = async function* (
  operations: AsyncIterable<AnnotatedRow>,
  chains: ChainFacts,
  depositsOf: (operations: readonly Operation[]) => Promise<ReadonlyMap<string, DepositRecord>>,
): AsyncGenerator<CsvText> {
  yield csvHeader();
  const linesOf = async (batch: readonly AnnotatedRow[]): Promise<CsvText> => {
    const deposits = await depositsOf(batch.map(({ operation }) => operation));
    return joinCsv(
      batch.map(({ operation, annotation }) =>
        csvLines(
          toOperation(operation, chains, deposits.get(operation.id) ?? null),
          annotation,
        ),
      ),
    );
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
