import type { Clock } from "@/lib/core/clock";
import type { SmartAccountsService, DeploymentClaims, ManagedAccount } from "@/lib/modules/smart-accounts/service";
import type { ReceiptLog, RouteLeg, RouteRequest, RoutingProvider } from "@/lib/ports/routing";
import { toStored } from "@/lib/ports/routing-json";
import type {
  LegChange,
  LegMove,
  LegRow,
  OperationsRepository,
  OperationWithLegs,
} from "@/lib/modules/operations/repository";
import type { LegState } from "@/lib/modules/operations/summary";

export interface Head {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
}

export interface StepDeps {
  repository: OperationsRepository;
  accounts: SmartAccountsService;
  deployments: DeploymentClaims;
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

/** One look at one leg: the rows as they were read, what was asked for, and whom to ask. */
export interface Step extends StepDeps {
  readonly operation: OperationWithLegs;
  readonly leg: LegRow;
  readonly request: RouteRequest;
  readonly routeLeg: RouteLeg;
  readonly signal: AbortSignal;
  /** When this process last offered the leg's operation to the bundler. */
  readonly submittedAt: Map<string, number>;
}

export type StepInput = Pick<Step, "operation" | "leg" | "signal" | "submittedAt">;

/** What the chain took for bringing a leg's source on chain. */
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
  /** Of the leg alone. */
  readonly logs: readonly ReceiptLog[];
  readonly fee: NetworkFee;
}

/** Shown in the record, to people and machines. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

export const move = async (
  step: Step,
  to: LegState,
  type: string,
  change: LegChange = {},
  data: Record<string, unknown> = {},
  gas: Pick<LegMove, "maxGasWei"> = {},
): Promise<StepResult> => {
  // When somebody else moved it first there is nothing to do but to look again.
  await step.repository.moveLeg({ leg: step.leg, to, change, event: { type, data }, now: step.clock.now(), ...gas });
  return "moved";
};

export const fail = (step: Step, failure: Failure): Promise<StepResult> =>
  move(step, "failed", "leg.failed", { failure: toStored(failure) }, { ...failure });

/** False when somebody else moved the leg: what this step read is old, and it has to start again. */
export const touch = async ({ repository, leg, clock }: Step, change: LegChange): Promise<boolean> => {
  if (!(await repository.touchLeg(leg, change, clock.now()))) return false;
  leg.version += 1;
  return true;
};

/** How many blocks deep a block is now, itself included. */
export const confirmationsOf = async ({ chains }: Step, chainId: number, block: bigint): Promise<number> => {
  const head = await chains.head(chainId);
  return head.number < block ? 0 : Number(head.number - block) + 1;
};
