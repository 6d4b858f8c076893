import { z } from "zod";
import { quoteRecord } from "@/lib/contracts/swap";
import type { transferRecord } from "@/lib/contracts/transfers";
import { formatAmount } from "@/lib/core/money";
import type { Status, SubStatus } from "@/lib/core/status";
import { toBigInt } from "@/lib/db/decimal";
import { toOperation, type ChainFacts } from "@/lib/modules/operations/service";
import type { Transfer } from "./service";

type TransferRecord = z.output<typeof transferRecord>;
type TokenAmount = TransferRecord["sent"];

/** What a stored quote said, as far as a transfer shows it. */
const quoted = quoteRecord.pick({ from: true, to: true, fees: true, warnings: true, estimatedSeconds: true });

const amountRecord = (token: TokenAmount["token"], base: bigint): TokenAmount => ({
  token,
  amount: formatAmount(base, token.decimals),
  amountBase: base.toString(),
  decimals: token.decimals,
});

const preparedLegs = z.object({ legs: z.array(z.object({ by: z.string() })) });

/** Whether the service signs for the wallet; else execute waits for what the wallet was asked to sign or send. */
const isSigned = (prepared: unknown): boolean => preparedLegs.parse(prepared).legs.every(({ by }) => by === "service");

/** Of a transfer that was not executed; afterwards its operation tells. */
const pendingStatus = ({ quote, readAt }: Transfer): { status: Status; subStatus: SubStatus } => {
  if (quote.status === "cancelled") return { status: "cancelled", subStatus: "created" };
  const isLocked = quote.status === "prepared" && quote.preparedUntil !== null && quote.preparedUntil > readAt;
  if (isLocked) return { status: "pending", subStatus: isSigned(quote.prepared) ? "prepared" : "awaiting_signature" };
  if (quote.expiresAt <= readAt) return { status: "expired", subStatus: "created" };
  const awaitsCode = quote.codeSentAt !== null && quote.approvedAt === null;
  return { status: "pending", subStatus: awaitsCode ? "awaiting_otp" : "created" };
};

const latest = (dates: readonly (Date | null)[]): Date =>
  new Date(Math.max(...dates.map((date) => (date === null ? 0 : date.getTime()))));

/** The transfer as the caller sees it: what was asked for, and what the chains show. */
export const toTransfer = (transfer: Transfer, chains: ChainFacts): TransferRecord => {
  const { quote, operation } = transfer;
  const { from, to, fees, warnings, estimatedSeconds } = quoted.parse(quote.response);
  const [source] = from;
  if (source === undefined) throw new Error(`Transfer ${quote.transferId} has no source.`);
  const shown = operation === null ? null : toOperation(operation, chains);
  const received = shown?.legs.some((leg) => leg.received !== null) === true ? shown.actual.received : null;
  const { token, amount, amountBase, decimals } = source;
  return {
    transferId: quote.transferId,
    ...(shown === null ? pendingStatus(transfer) : { status: shown.status, subStatus: shown.subStatus }),
    fromWalletId: source.walletId,
    fromAddress: source.address,
    fromChainId: source.chainId,
    toChainId: to.chainId,
    toAddress: to.address,
    sent: { token, amount, amountBase, decimals },
    expected: amountRecord(to.token, BigInt(to.amountBase)),
    minimum: amountRecord(to.token, toBigInt(quote.minimumBase)),
    received,
    fees,
    networkFeePaidBy: source.networkFeePaidBy,
    warnings,
    estimatedSeconds,
    operationId: quote.operationId,
    failure: shown?.failure ?? null,
    outcome: shown?.outcome ?? null,
    createdBy: quote.createdBy,
    createdAt: quote.createdAt.toISOString(),
    updatedAt: (operation?.updatedAt ?? latest([quote.createdAt, quote.codeSentAt, quote.approvedAt])).toISOString(),
    expiresAt: operation === null ? quote.expiresAt.toISOString() : null,
  };
};
