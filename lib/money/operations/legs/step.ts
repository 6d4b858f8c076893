import type { Clock } from "@/lib/core/clock";
import type {
  DeploymentClaims,
  ManagedAccount,
  SmartAccountsService,
} from "@/lib/chain/smart-accounts/service";
import type { SigningGate } from "@/lib/money/signing/service";
import type { ReceiptLog } from "@/lib/core/evm";
import type { RouteLeg, Routing, SourceOutcome } from "@/lib/money/ports/routing";
import type { RouteRequest } from "@/lib/core/route-request";
import type { TransactionSender } from "@/lib/chain/ports/transactions";
import type { GasWaitRepository } from "@/lib/money/operations/state-repository";
import type { Leg, LegChange } from "@/lib/money/operations/leg";
import type { Failure, WalletTransactions } from "@/lib/money/operations/rows";
import type {
  LegMove,
  LegRepository,
  SignedAgain,
} from "@/lib/money/operations/step-repository";
import type { Operation } from "@/lib/money/operations/operation";
import type { ScreenedPhase } from "@/lib/money/operations/parameters";
import type { LegState } from "@/lib/money/operations/summary";
import { isDomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";

export interface Head {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
}

/**
 * The writes of a step. Each write is a compare-and-set, and returns false when another instance
 * has moved the leg since it was read.
 */
export interface LegWrites {
  moveLeg(move: LegMove): Promise<boolean>;
  touchLeg(leg: Leg, change: LegChange, now: Date): Promise<boolean>;
  replaceOperation(
    leg: Leg,
    signed: SignedAgain,
    maxGasWei: bigint,
    now: Date,
  ): Promise<boolean>;
  adoptTransaction: LegRepository["adoptTransaction"];
}

export interface StepDeps {
  legs: LegWrites;
  gasWaits: GasWaitRepository;
  smartAccounts: SmartAccountsService;
  deployments: DeploymentClaims;
  routing: Routing;
  clock: Clock;
  chains: {
    head(chainId: number): Promise<Head>;
    /** The number of the newest final block; null while the chain has no final block. */
    finalNumber(chainId: number): Promise<bigint | null>;
    finalBlock(chainId: number): Promise<Head | null>;
    confirmations(chainId: number): number;
    blockTimeMs(chainId: number): number;
  };
  /** Whether the policies allowed exactly this operation. Otherwise nothing is signed. */
  isSigningAllowed(operation: Operation): Promise<boolean>;
  /**
   * Screens the leg's addresses again. Returns the reason why the leg must not be sent, or null.
   * @throws DomainError `provider_error`
   */
  screenAgain(operation: Operation, leg: Leg, phase: ScreenedPhase): Promise<Failure | null>;
  /** Finds payments on chain that are missing from a restored database. */
  lostMoves: Pick<SigningGate, "hasPaid" | "requireUnpaid">;
  bundles: Pick<TransactionSender, "bundleTransactionsOf">;
  managedAccount(projectId: string, walletId: string): Promise<ManagedAccount | null>;
}

/** `moved`: the leg's next step runs immediately. `waits`: the next step runs later. */
export type StepResult = "moved" | "waits";

export interface Step extends StepDeps {
  readonly operation: Operation;
  /**
   * The leg as read. Each write of this step updates its version, which the next compare-and-set
   * needs.
   */
  readonly leg: Leg & { version: number; sourceConfirmations: number };
  readonly request: RouteRequest;
  readonly routeLeg: RouteLeg;
  readonly signal: AbortSignal;
  /**
   * For each leg id, the time in milliseconds at which this process last submitted the leg's
   * operation to the bundler.
   */
  readonly submittedAt: Map<string, number>;
}

export type StepInput = Pick<Step, "operation" | "leg" | "signal" | "submittedAt">;

interface NetworkFee {
  /** The fee in wei of the chain's coin. */
  readonly costWei: bigint;
  readonly paidBy: "sponsor" | "wallet";
}

/** The mined user operation of a leg, or the combined mined transactions of its wallet. */
export interface MinedSource {
  readonly success: boolean;
  readonly txHash: `0x${string}`;
  readonly blockNumber: bigint;
  /** Logs of this leg only. */
  readonly logs: readonly ReceiptLog[];
  readonly fee: NetworkFee;
}

export const move = async (
  step: Step,
  to: LegState,
  type: string,
  change: LegChange = {},
  data: Record<string, unknown> = {},
  more: Pick<LegMove, "maxGasWei" | "refund"> = {},
): Promise<StepResult> => {
  // The result is ignored: when another instance has moved the leg first, the next step reads the
  // new state.
  await step.legs.moveLeg({
    leg: step.leg,
    to,
    change,
    event: { type, data },
    now: step.clock.now(),
    ...more,
  });
  return "moved";
};

export const fail = (
  step: Step,
  failure: Failure,
  change: LegChange = {},
): Promise<StepResult> =>
  move(step, "failed", "leg.failed", { ...change, failure }, { ...failure });

/**
 * Stores facts about the leg. Returns false when another instance has moved the leg; the step must
 * then be repeated.
 */
export const touch = async (
  { legs, leg, clock }: Step,
  change: LegChange,
): Promise<boolean> => {
  if (!(await legs.touchLeg(leg, change, clock.now()))) return false;
  leg.version += 1;
  return true;
};

/**
 * The depth of a block, counting the block itself. It reaches the chain's required number exactly
 * when the block is final.
 */
export const confirmationsOf = async (
  { chains }: Step,
  chainId: number,
  block: bigint,
): Promise<number> => {
  const needed = chains.confirmations(chainId);
  const [head, final] = await Promise.all([chains.head(chainId), chains.finalNumber(chainId)]);
  if (final !== null && block <= final) return needed;
  return head.number < block ? 0 : Math.min(needed - 1, Number(head.number - block) + 1);
};

type GasStep = Pick<Step, "leg" | "operation" | "smartAccounts" | "gasWaits" | "clock">;

export const endGasWait = async ({
  leg,
  operation,
  gasWaits,
  clock,
}: GasStep): Promise<void> => {
  const chainId = leg.sourceChainId;
  if (operation.gasWaits.some((wait) => wait.chainId === chainId))
    await gasWaits.end(operation, chainId, clock.now());
};

/**
 * Whether the source chain's network fee is above its cap. Stores or removes the operation's gas
 * wait accordingly.
 */
export const waitsForGas = async (step: GasStep): Promise<boolean> => {
  const { leg, operation, smartAccounts, gasWaits, clock } = step;
  const excess = await smartAccounts.feeExcess(leg.sourceChainId);
  if (excess === null) await endGasWait(step);
  else await gasWaits.note(operation, leg.sourceChainId, excess, clock.now());
  return excess !== null;
};

/** The failure of a leg when another operation used the nonce of the leg's user operation. */
export const REPLACED: Failure = {
  code: "source_replaced",
  message:
    "The account executed another operation that was signed for the same purpose, so this one can never be executed. The other one may have moved the money: look at the account's history before you try again.",
  retryable: false,
};

/**
 * Whether a mined transfer moved no tokens. Some tokens move nothing although the transaction
 * succeeds.
 */
export const movedNothing = (
  { kind }: RouteLeg,
  { spentBase, receivedBase }: SourceOutcome,
): boolean => kind === "transfer" && spentBase === 0n && receivedBase === 0n;

export const NOTHING_MOVED: Failure = {
  code: "nothing_moved",
  message:
    "The token's contract ran without an error, and its logs show that it moved nothing: the money should still be in the wallet. It would do the same again.",
  retryable: false,
};

// After a restore the database may show a leg as queued although it was executed, or although
// another operation made its payment. The functions below detect both cases.

const PAID_BY_LOST_MOVE: Failure = {
  code: REPLACED.code,
  message:
    "Before the database was restored, another operation paid this recipient, so nothing was signed. It may have been this payment: look at the chain before you pay again.",
  retryable: false,
};

/**
 * Whether a move that is missing from the database may have made the leg's payment. A transfer
 * counts as paid when such a move paid the same amount of the same token to the recipient. The
 * amount that a swap or bridge delivers differs each time, so any missing payment to the recipient
 * counts for a swap or bridge.
 */
const isPaid = async ({
  lostMoves,
  operation,
  request,
  routeLeg,
  leg,
}: Step): Promise<boolean> => {
  const { projectId } = operation;
  const { recipient } = request.destination;
  const source = request.sources[routeLeg.sourceIndex];
  if (routeLeg.kind === "transfer" && source !== undefined) {
    const { address, chainId, decimals } = source.token;
    const payments = [{ recipient, amount: formatAmount(leg.amountBase, decimals) }];
    return lostMoves.hasPaid({ projectId, chainId, token: address, payments });
  }
  try {
    await lostMoves.requireUnpaid(projectId, [recipient]);
    return false;
  } catch (error) {
    if (isDomainError(error) && error.code === "paid_already") return true;
    throw error;
  }
};

/**
 * The reason not to sign a leg after a restore. Null when no move that is missing from the
 * database can have made the leg's payment.
 */
export const paidByLostMove = async (step: Step): Promise<Failure | null> =>
  (await isPaid(step)) ? PAID_BY_LOST_MOVE : null;

/**
 * Whether the chain has executed an operation of a leg that the database shows as queued.
 * @throws DomainError `chain_unavailable`
 */
export const wasExecutedBefore = async (
  { smartAccounts, chains, leg }: Step,
  { address }: ManagedAccount,
): Promise<"never" | "final" | "not final"> => {
  const { sourceChainId: chainId, id } = leg;
  const { number } = await chains.head(chainId);
  if (!(await smartAccounts.wasExecuted(chainId, address, id, { blockNumber: number })))
    return "never";
  const final = await chains.finalNumber(chainId);
  const isFinal =
    final !== null &&
    (await smartAccounts.wasExecuted(chainId, address, id, { blockNumber: final }));
  return isFinal ? "final" : "not final";
};

/**
 * How receipts are read. `quick`: one node is asked. `agreed`: a transaction counts as not mined
 * only when the chain's providers agree on it.
 */
type Reading = "quick" | "agreed";

const latest = (blocks: readonly bigint[]): bigint =>
  blocks.reduce((one, other) => (one > other ? one : other), 0n);

/**
 * The combined result of the wallet's transactions. Null until the last transaction is mined,
 * which moves the money. Earlier transactions may have failed.
 */
export const readWalletReceipt = async (
  step: Step,
  reading: Reading = "quick",
): Promise<MinedSource | null> => {
  const mined = await minedTransactions(step, reading);
  const last = mined.at(-1);
  if (last === null || last === undefined) return null;
  return { ...last, ...together(mined) };
};

/**
 * The transactions that a linked wallet sends for the leg.
 * @throws Error for a leg whose wallet does not send transactions
 */
export const walletTransactionsOf = ({ id, walletTransactions }: Leg): WalletTransactions => {
  if (walletTransactions === null)
    throw new Error(`Leg ${id} has no transactions of a wallet.`);
  return walletTransactions;
};

/**
 * Reads the receipt of each transaction. A receipt is null when the transaction is not mined. It
 * is also null when the nonce is unknown, because the hash could then name any transaction of the
 * wallet.
 */
const minedTransactions = ({ smartAccounts, leg }: Step, reading: Reading) => {
  const { transactions } = walletTransactionsOf(leg);
  const receiptOf =
    reading === "agreed" ? smartAccounts.sent.agreedReceipt : smartAccounts.sent.receipt;
  return Promise.all(
    transactions.map(({ hash, nonce }) =>
      nonce === null ? Promise.resolve(null) : receiptOf(leg.sourceChainId, hash),
    ),
  );
};

type Mined = Awaited<ReturnType<typeof minedTransactions>>;

/**
 * The change that stores a fee. It replaces the stored fee instead of adding to it, so that a
 * repeated step does not count a fee twice.
 */
export const feeChange = ({ costWei, paidBy }: NetworkFee): LegChange => ({
  gasCostWei: costWei,
  gasPaidBy: paidBy,
});

const together = (mined: Mined): Pick<MinedSource, "blockNumber" | "logs" | "fee"> => {
  const effective = mined.filter((receipt) => receipt !== null);
  return {
    blockNumber: latest(effective.map(({ blockNumber }) => blockNumber)),
    logs: effective.flatMap(({ logs }) => logs).map((log, logIndex) => ({ ...log, logIndex })),
    // A reverted transaction costs gas too.
    fee: {
      costWei: effective.reduce((sum, { costWei }) => sum + costWei, 0n),
      paidBy: "wallet",
    },
  };
};

/**
 * The changes of a leg whose last transaction can no longer be mined. The leg's earlier
 * transactions moved no money, but cost gas.
 */
export const stoppedChange = async (step: Step): Promise<LegChange> => {
  const { fee } = together(await minedTransactions(step, "agreed"));
  return { spentBase: 0n, ...(fee.costWei > 0n ? feeChange(fee) : {}) };
};

// Charges the network fees of reverted bundles to the project whose user operation made them
// revert. Only accounts with an external owner can cause this.

/**
 * Returns the fees in wei of reverted bundles that contained the leg's user operation; 0 when the
 * service signs for the account, or no sponsor pays for the leg. EntryPoint reverts the whole
 * bundle when a user operation is invalid, and does not pay the executor back. An owner who
 * invalidates user operations on purpose would drain the executor. A user operation of an external
 * owner is bundled alone, so its project pays the whole cost. Only the latest bundle's cost is
 * known; earlier bundles are assumed to cost the same.
 * @throws DomainError `chain_unavailable`
 */
const revertedWei = async (step: Step): Promise<bigint> => {
  const { leg, operation, smartAccounts, bundles } = step;
  if (leg.sponsorReservedWei === null || leg.userOpHash === null) return 0n;
  const account = await step.managedAccount(
    operation.projectId,
    leg.executorWalletId ?? leg.walletId,
  );
  if (account !== null) return 0n;
  const carried = await bundles.bundleTransactionsOf(leg.sourceChainId, [
    leg.userOpHash,
    ...leg.earlierUserOpHashes,
  ]);
  let costWei = 0n;
  for (const { attempts, transaction } of carried.values()) {
    if (transaction.minedHash === null) continue;
    const receipt = await smartAccounts.sent.receipt(leg.sourceChainId, transaction.minedHash);
    if (receipt?.success === false) costWei += receipt.costWei * BigInt(attempts);
  }
  return costWei;
};

/**
 * The network fees of a leg whose user operation can never be executed: `replacedWei` plus the fees
 * of its reverted bundles. The project's sponsor budget pays them.
 */
export const lostFeeChange = async (step: Step, replacedWei: bigint): Promise<LegChange> => {
  const costWei = replacedWei + (await revertedWei(step));
  return costWei === 0n ? {} : feeChange({ costWei, paidBy: "sponsor" });
};
