import { addSeconds, type Clock } from "@/lib/core/clock";
import type { DomainError } from "@/lib/core/errors";
import { isDomainError } from "@/lib/core/errors";
import { toBigIntOrNull, toDecimal } from "@/lib/db/decimal";
import type { UserOperation, UserOperationReceipt } from "@/lib/ports/bundler";
import type { BridgeProgress, EvmAddress, RouteLeg, RouteRequest, RoutingProvider } from "@/lib/ports/routing";
import { storedGas, storedRouteLeg, storedRouteRequest, storedUserOperation, toStored } from "@/lib/ports/routing-json";
import type { AccountsService, ManagedAccount } from "@/lib/modules/accounts/service";
import { NO_JSON, type LegChange, type LegRow, type OperationsRepository, type OperationWithLegs } from "./repository";
import type { LegState } from "./summary";

const SUBMIT_AGAIN_MS = 4000;
const VALIDITY_SECONDS_MIN = 120;
const VALIDITY_BLOCKS = 40;
/** Blocks may carry clocks that run ahead or behind a little. */
const VALIDITY_MARGIN_SECONDS = 15;
/** What was approved at a price must not be sent hours later because no worker or chain was there. */
const QUEUED_SECONDS_MAX = 600;
/** A reorganisation may bring the operation into an earlier block than the one that was the head when it was signed. */
const REORG_BLOCKS = 64n;
const DELAY_FACTOR = 4;
const DELAY_MIN_SECONDS = 30;

export interface Head {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
}

export interface StepDeps {
  repository: OperationsRepository;
  accounts: AccountsService;
  routing: RoutingProvider;
  clock: Clock;
  chains: {
    head(chainId: number): Promise<Head>;
    confirmations(chainId: number): number;
    blockTimeMs(chainId: number): number;
  };
  managedAccount(projectId: string, walletId: string): Promise<ManagedAccount | null>;
}

/** What a step came to: the leg moved (look again at once), or it waits. */
export type StepResult = "moved" | "waits";

interface Step extends StepDeps {
  readonly operation: OperationWithLegs;
  readonly leg: LegRow;
  readonly request: RouteRequest;
  readonly routeLeg: RouteLeg;
  readonly signal: AbortSignal;
  /** When this process last offered the leg's operation to the bundler. */
  readonly submittedAt: Map<string, number>;
}

export type StepInput = Pick<Step, "operation" | "leg" | "signal" | "submittedAt">;

/** Errors that will not go away by trying again: the leg fails while its money is still in the wallet. */
const PERMANENT = new Set<string>([
  "no_route",
  "insufficient_liquidity",
  "insufficient_balance",
  "simulation_failed",
  "unsupported_chain",
  "unsupported_token",
]);

/**
 * Carries one leg one step further. Every step reads what is so, decides, and writes by compare-and-set; any of them may be
 * repeated, by any instance, after any crash.
 */
export const stepLeg = (deps: StepDeps, input: StepInput): Promise<StepResult> => {
  const step: Step = {
    ...deps,
    ...input,
    request: storedRouteRequest.parse(input.operation.request),
    routeLeg: storedRouteLeg.parse(input.leg.routeLeg),
  };
  return STEPS[input.leg.state](step);
};

const done = (): Promise<StepResult> => Promise.resolve("waits");

const move = async (
  step: Step,
  to: LegState,
  type: string,
  change: LegChange = {},
  data: Record<string, unknown> = {},
): Promise<StepResult> => {
  // When somebody else moved it first there is nothing to do but to look again.
  await step.repository.moveLeg({ leg: step.leg, to, change, event: { type, data }, now: step.clock.now() });
  return "moved";
};

const fail = (step: Step, failure: { code: string; message: string; retryable: boolean }): Promise<StepResult> =>
  move(step, "failed", "leg.failed", { failure }, failure);

// ---------------------------------------------------------------- queued: sign, and keep what was signed

const queued = async (step: Step): Promise<StepResult> => {
  const { leg, operation } = step;
  const account = await step.managedAccount(operation.projectId, leg.walletId);
  if (account === null) throw new Error(`Wallet ${leg.walletId} has no managed key.`);
  if (step.clock.now() > addSeconds(operation.createdAt, QUEUED_SECONDS_MAX)) {
    const message = "It could not be sent within ten minutes of its approval. Nothing left the wallet.";
    return fail(step, { code: "not_sent_in_time", message, retryable: true });
  }
  if (!(await mayDeploy(step, account.address))) return "waits";
  try {
    const built = await step.routing.build(step.request, step.routeLeg, step.signal);
    const head = await step.chains.head(leg.sourceChainId);
    const validUntil = addSeconds(new Date(Number(head.timestamp) * 1000), validitySeconds(step));
    const { operation: userOperation, userOpHash } = await step.accounts.sign({
      account,
      chainId: leg.sourceChainId,
      legId: leg.id,
      calls: built.calls,
      gas: storedGas.parse(leg.gas),
      validUntil,
    });
    const change: LegChange = {
      userOperation: toStored(userOperation),
      userOpHash,
      validUntil,
      fillDeadline: built.fillDeadline === null ? null : new Date(built.fillDeadline * 1000),
      fromBlock: head.number > REORG_BLOCKS ? head.number - REORG_BLOCKS : 0n,
    };
    return await move(step, "submitted", "leg.submitted", change, { userOpHash });
  } catch (error) {
    if (!isDomainError(error) || !PERMANENT.has(error.code)) throw error;
    return fail(step, { code: error.code, message: `${error.message} Nothing left the wallet.`, retryable: true });
  }
};

const validitySeconds = ({ chains, leg }: Step): number =>
  Math.max(VALIDITY_SECONDS_MIN, Math.ceil((VALIDITY_BLOCKS * chains.blockTimeMs(leg.sourceChainId)) / 1000));

/** An account is deployed by the first operation that reaches the chain; a second one that wants to deploy it too would be refused. */
const mayDeploy = async ({ accounts, repository, leg, clock }: Step, address: EvmAddress): Promise<boolean> =>
  (await accounts.isDeployed(leg.sourceChainId, address)) ||
  repository.claimDeployment({ chainId: leg.sourceChainId, address, legId: leg.id, now: clock.now() });

// ---------------------------------------------------------------- submitted: offer it until it is mined or cannot be any more

const submitted = async (step: Step): Promise<StepResult> => {
  const { leg } = step;
  const receipt = await readReceipt(step);
  if (receipt !== null) return sourceSeen(step, receipt);
  const expired = await hasExpired(step);
  if (expired) {
    return fail(step, {
      code: "source_expired",
      message:
        "The chain did not take the transaction in time. It can no longer be executed; the money is in the wallet.",
      retryable: true,
    });
  }
  const now = step.clock.now().getTime();
  if (now - (step.submittedAt.get(leg.id) ?? 0) < SUBMIT_AGAIN_MS) return "waits";
  step.submittedAt.set(leg.id, now);
  try {
    await step.accounts.submit(leg.sourceChainId, userOperationOf(step));
  } catch (error) {
    // Refused now is not refused for good: an earlier offer may be on its way. What settles it is a receipt, or the end of its validity.
    if (!isDomainError(error)) throw error;
  }
  return "waits";
};

const userOperationOf = ({ leg }: Step): UserOperation => storedUserOperation.parse(leg.userOperation);

const userOpHashOf = ({ leg }: Step): `0x${string}` => {
  if (leg.userOpHash === null) throw new Error(`Leg ${leg.id} has no user operation.`);
  return leg.userOpHash as `0x${string}`;
};

const readReceipt = (step: Step): Promise<UserOperationReceipt | null> =>
  step.accounts.receipt(step.leg.sourceChainId, userOpHashOf(step), step.leg.fromBlock);

/** Only when its time is over on the chain itself, at depth, and its nonce is unused, it can never be executed. */
const hasExpired = async (step: Step): Promise<boolean> => {
  const { leg, chains, accounts } = step;
  if (leg.validUntil === null) return false;
  const head = await chains.head(leg.sourceChainId);
  const depthSeconds = (chains.confirmations(leg.sourceChainId) * chains.blockTimeMs(leg.sourceChainId)) / 1000;
  const end = leg.validUntil.getTime() / 1000 + depthSeconds + VALIDITY_MARGIN_SECONDS;
  if (Number(head.timestamp) <= end) return false;
  const at = { blockNumber: head.number };
  if (await accounts.wasExecuted(leg.sourceChainId, leg.walletAddress as EvmAddress, leg.id, at)) return false;
  // The receipt once more: a node that lags behind must not make an executed operation look like one that never was.
  return (await readReceipt(step)) === null;
};

const sourceSeen = async (step: Step, receipt: UserOperationReceipt): Promise<StepResult> => {
  const { leg, routeLeg, request } = step;
  const mined: LegChange = { sourceTxHash: receipt.txHash, sourceBlock: receipt.blockNumber, sourceConfirmations: 1 };
  const data = { txHash: receipt.txHash, chainId: leg.sourceChainId };
  if (!receipt.success) {
    const failure = {
      code: "source_reverted",
      message:
        "The chain refused the swap: its price fell below the minimum, or a balance was gone. The money is in the wallet.",
      retryable: true,
    };
    return move(
      step,
      "source_seen",
      "leg.source_seen",
      { ...mined, failure, spentBase: toDecimal(0n) },
      { ...data, reverted: true },
    );
  }
  const outcome = step.routing.readSource(request, routeLeg, { ...receipt, chainId: leg.sourceChainId });
  const change: LegChange = {
    ...mined,
    spentBase: toDecimal(outcome.spentBase),
    receivedBase: outcome.receivedBase === null ? null : toDecimal(outcome.receivedBase),
    ...(outcome.deposit === null || outcome.deposit === undefined ? {} : { deposit: toStored(outcome.deposit) }),
  };
  return move(step, leg.kind === "bridge" ? "bridging" : "source_seen", "leg.source_seen", change, data);
};

// ---------------------------------------------------------------- the source at depth

const GONE: LegChange = {
  sourceTxHash: null,
  sourceBlock: null,
  sourceConfirmations: 0,
  spentBase: null,
  receivedBase: null,
  destTxHash: null,
  destBlock: null,
  destConfirmations: 0,
  refundTxHash: null,
  refundBlock: null,
  refundedBase: null,
  refundToken: NO_JSON,
  deposit: NO_JSON,
  failure: NO_JSON,
};

const confirmationsOf = async ({ chains }: Step, chainId: number, block: bigint): Promise<number> => {
  const head = await chains.head(chainId);
  return head.number < block ? 0 : Number(head.number - block) + 1;
};

/** What the receipt says now is what was stored when it was first seen. The same transaction may do something else in another block. */
const saysTheSame = ({ leg, request, routeLeg, routing }: Step, receipt: UserOperationReceipt): boolean => {
  if (receipt.txHash !== leg.sourceTxHash || receipt.blockNumber !== leg.sourceBlock) return false;
  if (receipt.success !== (leg.failure === null)) return false;
  if (!receipt.success) return true;
  const outcome = routing.readSource(request, routeLeg, { ...receipt, chainId: leg.sourceChainId });
  const sameDeposit =
    JSON.stringify(inOrder(toStored(outcome.deposit ?? null))) === JSON.stringify(inOrder(leg.deposit));
  return outcome.spentBase === toBigIntOrNull(leg.spentBase) && sameDeposit;
};

/** Postgres keeps the keys of JSON in an order of its own. */
const inOrder = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, inOrder(item)]),
  );
};

/**
 * Follows the source until it is as deep as the chain asks for: `final`, `open`, `gone` by a reorganisation, or `moved` by
 * somebody else.
 */
const followSource = async (step: Step): Promise<"final" | "open" | "gone" | "moved"> => {
  const { leg } = step;
  const needed = step.chains.confirmations(leg.sourceChainId);
  if (leg.sourceConfirmations >= needed) return "final";
  const receipt = await readReceipt(step);
  if (receipt === null || !saysTheSame(step, receipt)) return "gone";
  const confirmations = Math.min(needed, await confirmationsOf(step, leg.sourceChainId, receipt.blockNumber));
  if (confirmations === leg.sourceConfirmations) return "open";
  if (!(await touch(step, { sourceConfirmations: confirmations }))) return "moved";
  leg.sourceConfirmations = confirmations;
  return confirmations >= needed ? "final" : "open";
};

/** False when somebody else moved the leg: what this step read is old, and it has to start again. */
const touch = async ({ repository, leg, clock }: Step, change: LegChange): Promise<boolean> => {
  if (!(await repository.touchLeg(leg, change, clock.now()))) return false;
  leg.version += 1;
  return true;
};

const reorganised = (step: Step): Promise<StepResult> => {
  step.submittedAt.delete(step.leg.id);
  return move(step, "submitted", "leg.reorganised", GONE, { side: "source" });
};

const sourceSeenStep = async (step: Step): Promise<StepResult> => {
  const source = await followSource(step);
  if (source === "moved") return "moved";
  if (source === "gone") return reorganised(step);
  if (source === "open") return "waits";
  if (step.leg.failure !== null) return move(step, "failed", "leg.failed");
  return move(step, "completed", "leg.completed", {}, { txHash: step.leg.sourceTxHash });
};

// ---------------------------------------------------------------- across the bridge

type Filled = Extract<BridgeProgress, { state: "filled" }>;
type Refunded = Extract<BridgeProgress, { state: "refunded" }>;

const trackBridge = (step: Step): Promise<BridgeProgress> =>
  step.routing.track(step.request, step.routeLeg, step.leg.deposit, step.signal);

const toFilled = (step: Step, progress: Filled): Promise<StepResult> =>
  move(
    step,
    "filled_seen",
    "leg.filled_seen",
    {
      destTxHash: progress.txHash,
      destBlock: progress.blockNumber,
      destConfirmations: 1,
      receivedBase: toDecimal(progress.receivedBase),
    },
    { txHash: progress.txHash, chainId: progress.chainId },
  );

const bridging = async (step: Step): Promise<StepResult> => {
  const source = await followSource(step);
  if (source === "moved") return "moved";
  if (source === "gone") return reorganised(step);
  const progress = await trackBridge(step);
  switch (progress.state) {
    case "filled":
      return toFilled(step, progress);
    case "expired":
    case "refunded":
      return move(step, "refunding", "leg.refunding");
    case "waiting": {
      const late =
        step.operation.createdAt.getTime() +
        1000 * Math.max(DELAY_MIN_SECONDS, DELAY_FACTOR * step.routeLeg.estimatedSeconds);
      if (step.operation.subStatus !== "delayed" && step.clock.now().getTime() > late) {
        await step.repository.markDelayed(step.operation.id, step.clock.now());
      }
      return "waits";
    }
  }
};

/** Follows a transaction that the bridge shows: `final` at depth, `open` before, `moved` when somebody else moved the leg. */
const followDestination = async (
  step: Step,
  progress: Filled | Refunded,
  side: "dest" | "refund",
): Promise<"final" | "open" | "moved"> => {
  const { leg } = step;
  const needed = step.chains.confirmations(progress.chainId);
  const confirmations = Math.min(needed, await confirmationsOf(step, progress.chainId, progress.blockNumber));
  const [block, hash] = side === "dest" ? [leg.destBlock, leg.destTxHash] : [leg.refundBlock, leg.refundTxHash];
  if (confirmations !== leg.destConfirmations || block !== progress.blockNumber || hash !== progress.txHash) {
    const place =
      side === "dest"
        ? { destTxHash: progress.txHash, destBlock: progress.blockNumber }
        : { refundTxHash: progress.txHash, refundBlock: progress.blockNumber };
    if (!(await touch(step, { ...place, destConfirmations: confirmations }))) return "moved";
  }
  return confirmations >= needed ? "final" : "open";
};

const filledSeen = async (step: Step): Promise<StepResult> => {
  const source = await followSource(step);
  if (source === "moved") return "moved";
  if (source === "gone") return reorganised(step);
  const progress = await trackBridge(step);
  if (progress.state !== "filled") {
    const gone: LegChange = { destTxHash: null, destBlock: null, destConfirmations: 0, receivedBase: null };
    return move(step, "bridging", "leg.reorganised", gone, { side: "destination" });
  }
  const destination = await followDestination(step, progress, "dest");
  if (destination === "moved") return "moved";
  if (destination === "open" || source === "open") return "waits";
  return move(
    step,
    "completed",
    "leg.completed",
    { receivedBase: toDecimal(progress.receivedBase) },
    { txHash: progress.txHash },
  );
};

const refunding = async (step: Step): Promise<StepResult> => {
  const source = await followSource(step);
  if (source === "moved") return "moved";
  if (source === "gone") return reorganised(step);
  const progress = await trackBridge(step);
  if (progress.state === "filled") return toFilled(step, progress);
  if (progress.state !== "refunded") return "waits";
  return move(
    step,
    "refund_seen",
    "leg.refund_seen",
    {
      refundTxHash: progress.txHash,
      refundBlock: progress.blockNumber,
      destConfirmations: 1,
      refundedBase: toDecimal(progress.refundedBase),
      refundToken: toStored(progress.token),
    },
    { txHash: progress.txHash, chainId: progress.chainId },
  );
};

const refundSeen = async (step: Step): Promise<StepResult> => {
  const progress = await trackBridge(step);
  if (progress.state === "filled") return toFilled(step, progress);
  if (progress.state !== "refunded") {
    const gone: LegChange = { refundTxHash: null, refundBlock: null, destConfirmations: 0, refundedBase: null };
    return move(step, "refunding", "leg.reorganised", gone, { side: "refund" });
  }
  const followed = await followDestination(step, progress, "refund");
  if (followed !== "final") return followed === "moved" ? "moved" : "waits";
  const failure = {
    code: "not_filled",
    message: "No relayer delivered at least the minimum in time, so the money was sent back to the wallet.",
    retryable: true,
  };
  return move(step, "refunded", "leg.refunded", { failure }, { txHash: progress.txHash });
};

const STEPS: Record<LegState, (step: Step) => Promise<StepResult>> = {
  queued,
  submitted,
  source_seen: sourceSeenStep,
  bridging,
  filled_seen: filledSeen,
  refunding,
  refund_seen: refundSeen,
  completed: done,
  failed: done,
  refunded: done,
};

/** An error of a step that is worth trying again; everything else is a bug and is logged as one. */
export const isTemporary = (error: unknown): error is DomainError =>
  isDomainError(error) && (error.code === "chain_unavailable" || error.code === "provider_error");
