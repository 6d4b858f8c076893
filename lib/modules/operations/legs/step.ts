import type { Clock } from "@/lib/core/clock";
import type { SmartAccountsService, DeploymentClaims, ManagedAccount } from "@/lib/modules/smart-accounts/service";
import type { SigningGate } from "@/lib/modules/signing/service";
import type { ReceiptLog, RouteLeg, RouteRequest, Routing } from "@/lib/ports/routing";
import type { TransactionSender } from "@/lib/ports/transactions";
import type { GasWaitRepository } from "@/lib/modules/operations/gas-wait-repository";
import type { Failure, Leg, LegChange } from "@/lib/modules/operations/leg";
import type { LegMove, LegRepository, SignedAgain } from "@/lib/modules/operations/leg-repository";
import type { Operation } from "@/lib/modules/operations/operation";
import type { ScreenedPhase } from "@/lib/modules/operations/screen-again";
import type { LegState } from "@/lib/modules/operations/summary";

export interface Head {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
}

/** The writes of a step, each a compare-and-set. False when another instance has moved the leg since it was read. */
export interface LegWrites {
  moveLeg(move: LegMove): Promise<boolean>;
  touchLeg(leg: Leg, change: LegChange, now: Date): Promise<boolean>;
  replaceOperation(leg: Leg, signed: SignedAgain, maxGasWei: bigint, now: Date): Promise<boolean>;
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
    /** The newest block that is final; null while there is none. */
    finalNumber(chainId: number): Promise<bigint | null>;
    finalBlock(chainId: number): Promise<Head | null>;
    confirmations(chainId: number): number;
    blockTimeMs(chainId: number): number;
  };
  /** Whether the policies allowed exactly this operation. Nothing is signed without. */
  isSigningAllowed(operation: Operation): Promise<boolean>;
  /** Why the leg may not leave after its addresses were screened again; null: it may. @throws DomainError `provider_error` */
  screenAgain(operation: Operation, leg: Leg, phase: ScreenedPhase): Promise<Failure | null>;
  /** Knows the payments that a restored database has lost. */
  lostMoves: Pick<SigningGate, "hasPaid" | "requireUnpaid">;
  /** The service's own transactions that carry operations. */
  bundles: Pick<TransactionSender, "bundleTransactionsOf">;
  managedAccount(projectId: string, walletId: string): Promise<ManagedAccount | null>;
}

/** `moved`: the leg moved, so look again at once. `waits`: nothing to do now. */
export type StepResult = "moved" | "waits";

/** The context of one step: the rows as read, the request, and the dependencies. */
export interface Step extends StepDeps {
  readonly operation: Operation;
  /** Updated with each write of this step, so that its next compare-and-set succeeds. */
  readonly leg: Leg & { version: number; sourceConfirmations: number };
  readonly request: RouteRequest;
  readonly routeLeg: RouteLeg;
  readonly signal: AbortSignal;
  /** When this process last offered the leg's operation to the bundler. */
  readonly submittedAt: Map<string, number>;
}

export type StepInput = Pick<Step, "operation" | "leg" | "signal" | "submittedAt">;

/** The network fee of a leg's source. */
export interface NetworkFee {
  /** In wei of the chain's coin. */
  readonly costWei: bigint;
  readonly paidBy: "sponsor" | "wallet";
}

/** The mined operation of a leg, or the mined transactions of its wallet taken together. */
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
  // False when another instance moved the leg first; the next look then reads the new state.
  await step.legs.moveLeg({ leg: step.leg, to, change, event: { type, data }, now: step.clock.now(), ...more });
  return "moved";
};

export const fail = (step: Step, failure: Failure, change: LegChange = {}): Promise<StepResult> =>
  move(step, "failed", "leg.failed", { ...change, failure }, { ...failure });

/** False when another instance moved the leg: this step has read an old state and has to start again. */
export const touch = async ({ legs, leg, clock }: Step, change: LegChange): Promise<boolean> => {
  if (!(await legs.touchLeg(leg, change, clock.now()))) return false;
  leg.version += 1;
  return true;
};

/** How many blocks deep a block is now, itself included; as many as the chain needs exactly when it is final. */
export const confirmationsOf = async ({ chains }: Step, chainId: number, block: bigint): Promise<number> => {
  const needed = chains.confirmations(chainId);
  const [head, final] = await Promise.all([chains.head(chainId), chains.finalNumber(chainId)]);
  if (final !== null && block <= final) return needed;
  return head.number < block ? 0 : Math.min(needed - 1, Number(head.number - block) + 1);
};
