import type { z } from "zod";
import type { transferRecord } from "@/lib/contracts/transfers";
import type { ChainFacts } from "@/lib/chain/shown-chain";
import type { Status, SubStatus } from "@/lib/core/status";
import { toOperation } from "@/lib/money/operations/service";
import type { Transfer } from "./service";
import { toAmountRecord } from "@/lib/core/token";

type TransferRecord = z.output<typeof transferRecord>;

/**
 * True when the service signs every leg. Otherwise execute needs a signature or a transaction of
 * the wallet.
 */
const isSigned = ({ preparedLegs }: Transfer["quote"]): boolean =>
  preparedLegs.every(({ by }) => by === "service");

/** The status of a transfer that was not executed. */
const pendingStatus = ({
  quote,
  readAt,
}: Transfer): { status: Status; subStatus: SubStatus } => {
  if (quote.status === "cancelled") return { status: "cancelled", subStatus: "created" };
  const isLocked =
    quote.status === "prepared" && quote.preparedUntil !== null && quote.preparedUntil > readAt;
  if (isLocked)
    return {
      status: "pending",
      subStatus: isSigned(quote) ? "prepared" : "awaiting_signature",
    };
  if (quote.expiresAt <= readAt) return { status: "expired", subStatus: "created" };
  const awaitsCode = quote.codeSentAt !== null && quote.approvedAt === null;
  return { status: "pending", subStatus: awaitsCode ? "awaiting_otp" : "created" };
};

const latest = (dates: readonly (Date | null)[]): Date =>
  new Date(Math.max(...dates.map((date) => (date === null ? 0 : date.getTime()))));

export const toTransfer = (transfer: Transfer, chains: ChainFacts): TransferRecord => {
  const { quote, operation } = transfer;
  const [source] = quote.response?.from ?? [];
  if (source === undefined || quote.response === null)
    throw new Error(`Transfer ${quote.transferId} has no source.`);
  const { to, fees, steps, warnings, votes, estimatedSeconds } = quote.response;
  const shown = operation === null ? null : toOperation(operation, chains);
  const received =
    shown?.legs.some((leg) => leg.received !== null) === true ? shown.actual.received : null;
  const { token, amount, amountBase, decimals } = source;
  return {
    id: quote.transferId,
    transferId: quote.transferId,
    ...(shown === null
      ? pendingStatus(transfer)
      : { status: shown.status, subStatus: shown.subStatus }),
    fromWalletId: source.walletId,
    fromAddress: source.address,
    fromChainId: source.chainId,
    toChainId: to.chainId,
    toAddress: to.address,
    sent: { token, amount, amountBase, decimals },
    expected: toAmountRecord(to.token, BigInt(to.amountBase)),
    minimum: toAmountRecord(to.token, quote.minimumBase),
    received,
    fees,
    steps,
    networkFeePaidBy: source.networkFeePaidBy,
    warnings,
    votes,
    estimatedSeconds,
    operationId: quote.operationId,
    failure: shown?.failure ?? null,
    outcome: shown?.outcome ?? null,
    createdBy: quote.createdBy,
    createdAt: quote.createdAt.toISOString(),
    updatedAt: (
      operation?.updatedAt ?? latest([quote.createdAt, quote.codeSentAt, quote.approvedAt])
    ).toISOString(),
    expiresAt: operation === null ? quote.expiresAt.toISOString() : null,
  };
};
