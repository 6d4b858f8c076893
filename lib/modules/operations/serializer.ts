import { z } from "zod";
import type { legRecord, operationEvent, operationRecord } from "@/lib/contracts/operation-records";
import { formatAmount } from "@/lib/core/money";
import type { Status } from "@/lib/core/status";
import type { Token } from "@/lib/core/token";
import { toBigInt, toBigIntOrNull } from "@/lib/db/decimal";
import type { RouteRequest } from "@/lib/ports/routing";
import { storedRouteLeg, storedRouteRequest } from "@/lib/ports/routing-json";
import { csvHeader, csvLines } from "./csv";
import { mayOf } from "./permissions";
import { isPrivateKind } from "./private-kinds";
import { holdingsOf, nextActionOf, type Holding, type LegView } from "./outcome";
import type { EventRow } from "./event-repository";
import type { LegRow, OperationWithLegs } from "./repository";
import type { LegState } from "./summary";

type OperationRecord = z.output<typeof operationRecord>;
type LegRecord = z.output<typeof legRecord>;
type Failure = LegRecord["failure"];

/** What the serializer has to know of a chain. */
export interface ChainFacts {
  get(chainId: number): {
    readonly name: string;
    readonly confirmations: number;
    readonly explorerUrl?: string | undefined;
    readonly nativeCurrency: { readonly symbol: string; readonly decimals: number };
    readonly tokens: readonly { readonly address: string; readonly assetId: string }[];
  };
}

const tokenRecord = ({ symbol, address, chainId, decimals, assetId }: Token) => ({
  symbol,
  address,
  chainId,
  decimals,
  assetId,
});

const amountRecord = (token: Token, base: bigint) => ({
  token: tokenRecord(token),
  amount: formatAmount(base, token.decimals),
  amountBase: base.toString(),
  decimals: token.decimals,
});

const base = z.string().transform((text) => BigInt(text));
const storedQuoted = z.object({
  expectedBase: base,
  /** Of operations without legs, once they have ended. */
  spentBase: base.optional(),
  receivedBase: base.optional(),
});

const LEG_STATUS: Record<LegState, Status> = {
  queued: "processing",
  submitted: "processing",
  source_seen: "processing",
  bridging: "processing",
  filled_seen: "processing",
  refunding: "processing",
  refund_seen: "processing",
  completed: "completed",
  failed: "failed",
  refunded: "refunded",
};

const transaction = (
  chains: ChainFacts,
  at: { chainId: number; hash: string | null; block: bigint | null; confirmations: number },
) => {
  const { confirmations, explorerUrl } = chains.get(at.chainId);
  return {
    chainId: at.chainId,
    txHash: at.hash,
    blockNumber: at.block === null ? null : at.block.toString(),
    confirmations: at.hash === null ? 0 : at.confirmations,
    confirmationsNeeded: confirmations,
    explorerUrl: at.hash === null || explorerUrl === undefined ? null : `${explorerUrl}/tx/${at.hash}`,
  };
};

/** A leg of an operation that has not begun, or never did, has no status of its own. */
const legStatus = (operation: OperationWithLegs, row: LegRow): Status =>
  operation.status === "pending" || operation.status === "cancelled" || operation.status === "expired"
    ? operation.status
    : LEG_STATUS[row.state];

const toLeg = (
  operation: OperationWithLegs,
  { row, routeLeg, source, destination }: LegView,
  chains: ChainFacts,
): LegRecord => {
  const spent = toBigIntOrNull(row.spentBase);
  const received = toBigIntOrNull(row.receivedBase);
  const refunded = row.refundTxHash !== null;
  return {
    ...transaction(chains, {
      chainId: row.sourceChainId,
      hash: row.sourceTxHash,
      block: row.sourceBlock,
      confirmations: row.sourceConfirmations,
    }),
    id: row.id,
    kind: routeLeg.kind,
    status: legStatus(operation, row),
    state: row.state,
    walletId: row.walletId,
    walletAddress: row.walletAddress as LegRecord["walletAddress"],
    via: row.via as LegRecord["via"],
    sent: amountRecord(source.token, source.amountBase),
    spent: spent === null ? null : amountRecord(source.token, spent),
    minimum: amountRecord(destination.token, routeLeg.minOutBase),
    received: received === null ? null : amountRecord(destination.token, received),
    destination:
      row.destTxHash === null
        ? null
        : transaction(chains, {
            chainId: row.destChainId,
            hash: row.destTxHash,
            block: row.destBlock,
            confirmations: row.destConfirmations,
          }),
    refund: refunded
      ? transaction(chains, {
          chainId: row.sourceChainId,
          hash: row.refundTxHash,
          block: row.refundBlock,
          confirmations: row.destConfirmations,
        })
      : null,
    fillDeadline: row.fillDeadline === null ? null : row.fillDeadline.toISOString(),
    failure: row.failure as Failure,
  };
};

const viewsOf = (operation: OperationWithLegs, request: RouteRequest): LegView[] =>
  operation.legs.map((row) => {
    const routeLeg = storedRouteLeg.parse(row.routeLeg);
    const source = request.sources[routeLeg.sourceIndex];
    if (source === undefined) throw new Error(`Leg ${row.id} has no source.`);
    return { row, routeLeg, source, destination: request.destination };
  });

/** Where the money of an operation is that has no legs yet, or was ended before it got any. */
const untouched = ({ status }: OperationWithLegs, request: RouteRequest): Holding[] =>
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

/** Where the money of a private operation is: in its notes until their transactions are final, then with the recipient. */
const withoutLegs = (operation: OperationWithLegs, request: RouteRequest): Holding[] => {
  if (!isPrivateKind(operation.kind) || operation.status === "pending") return untouched(operation, request);
  const { receivedBase = 0n, spentBase = 0n } = storedQuoted.parse(operation.quoted);
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
    .flatMap((view) => view.routeLeg.fees)
    .map(({ kind, amountBase, token }) => ({
      kind,
      amount: formatAmount(amountBase, token.decimals),
      token: tokenRecord(token),
    }));

const coinOf = (chains: ChainFacts, chainId: number) => {
  const { nativeCurrency, tokens } = chains.get(chainId);
  const assetId = tokens.find(({ address }) => address === "native")?.assetId;
  const { symbol, decimals } = nativeCurrency;
  return { symbol, address: "native", chainId, decimals, assetId: assetId ?? symbol.toLowerCase() } as const;
};

/** What the chains took for the legs whose source is mined. */
const networkFees = (views: readonly LegView[], chains: ChainFacts): OperationRecord["fees"] =>
  views.flatMap(({ row }) => {
    const costWei = toBigIntOrNull(row.gasCostWei);
    if (costWei === null) return [];
    const token = coinOf(chains, row.sourceChainId);
    const paidBy = row.gasPaidBy === "sponsor" ? "sponsor" : "wallet";
    return [{ kind: "network", amount: formatAmount(costWei, token.decimals), token, paidBy }];
  });

/** The operation as the caller sees it, with where each part of the money is. */
export const toOperation = (operation: OperationWithLegs, chains: ChainFacts): OperationRecord => {
  const request = storedRouteRequest.parse(operation.request);
  const { token, recipient } = request.destination;
  const views = viewsOf(operation, request);
  const minimum = toBigInt(operation.minimumBase);
  const { expectedBase: expected, spentBase, receivedBase = 0n } = storedQuoted.parse(operation.quoted);
  const received = views.reduce((sum, { row }) => sum + (toBigIntOrNull(row.receivedBase) ?? 0n), receivedBase);
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
        minAmount: formatAmount(minimum, token.decimals),
      },
    },
    actual: {
      spent:
        spentBase === undefined
          ? views.map(({ row, source }) => amountRecord(source.token, toBigIntOrNull(row.spentBase) ?? 0n))
          : request.sources.map(({ token: paid }) => amountRecord(paid, spentBase)),
      received: amountRecord(token, received),
    },
    legs: views.map((view) => toLeg(operation, view, chains)),
    fees: [...quotedFees(views), ...networkFees(views, chains)],
    failure: operation.failure as Failure,
    outcome: {
      holds: (views.length === 0 ? withoutLegs(operation, request) : views.flatMap((view) => holdingsOf(view))).map(
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
    retryOf: operation.retryOf,
    retriedBy: operation.retriedBy,
    may: mayOf(operation),
    createdBy: operation.createdBy,
    createdAt: operation.createdAt.toISOString(),
    updatedAt: operation.updatedAt.toISOString(),
    expiresAt: operation.expiresAt === null ? null : operation.expiresAt.toISOString(),
  };
};

export const toOperationEvent = (event: EventRow): z.output<typeof operationEvent> => ({
  seq: event.seq,
  type: event.type,
  operationId: event.operationId,
  data: event.data as Record<string, unknown>,
  createdAt: event.createdAt.toISOString(),
});

/** The lines of a CSV file (RFC 4180), made while the list is read. */
export const operationsCsv = async function* (
  operations: AsyncIterable<OperationWithLegs>,
  chains: ChainFacts,
): AsyncGenerator<string> {
  yield csvHeader();
  for await (const operation of operations) yield csvLines(toOperation(operation, chains));
};
