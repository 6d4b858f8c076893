import type { Clock } from "@/lib/core/clock";
import type { Token } from "@/lib/core/token";
import type { SmartAccountsService, DeploymentClaims, ManagedAccount } from "@/lib/modules/smart-accounts/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { UserOperationReceipt } from "@/lib/ports/bundler";
import type { PayoutGasWaits } from "./gas-wait-repository";
import type { DrivenPayout, PayoutBatch } from "./payout-batch";
import type { BatchRepository } from "./repository";

export interface Head {
  readonly number: bigint;
  /** Unix seconds. */
  readonly timestamp: bigint;
}

export interface BatchDeps {
  readonly repository: BatchRepository;
  readonly smartAccounts: SmartAccountsService;
  readonly gasWaits: PayoutGasWaits;
  readonly deployments: DeploymentClaims;
  readonly sponsorship: Pick<SponsorshipService, "checkGas">;
  readonly clock: Clock;
  readonly chains: {
    head(chainId: number): Promise<Head>;
    block(chainId: number, number: bigint): Promise<Head>;
    confirmations(chainId: number): number;
    /** Whether the service pays network fees up to a cap alone there. */
    hasFeeCap(chainId: number): boolean;
    blockTimeMs(chainId: number): number;
    pollIntervalMs(chainId: number): number;
    /** By lower-case address, or `native`. @throws DomainError `unsupported_token` */
    token(chainId: number, address: string): Token;
  };
  managedAccount(projectId: string, walletId: string): Promise<ManagedAccount | null>;
}

/** The context of one step of a batch: its row, its payout and account, and the services that the step uses. */
export interface Step extends BatchDeps {
  readonly payout: DrivenPayout;
  readonly batch: PayoutBatch;
  readonly account: ManagedAccount;
  readonly token: Token;
  /** The time at which this process last submitted each user operation, by its hash. */
  readonly offeredAt: Map<string, number>;
}

/** The result of a step: the batch changed its state (run the next step at once), or it waits. */
export type StepResult = "moved" | "waits";

/** The receipt of the signed operation; null while it is not mined. @throws DomainError `chain_unavailable` */
export const readReceipt = ({ smartAccounts, payout, batch }: Step): Promise<UserOperationReceipt | null> => {
  if (batch.userOpHash === null || batch.fromBlock === null)
    throw new Error(`Batch ${String(batch.number)} of ${batch.payoutId} has no user operation.`);
  return smartAccounts.receipt(payout.chainId, batch.userOpHash, batch.fromBlock);
};

/** The confirmations of a block, itself included (`have`, at most `need`), and the number that makes it final (`need`). */
export const depthOf = async ({ chains, payout }: Step, block: bigint): Promise<{ have: number; need: number }> => {
  const head = await chains.head(payout.chainId);
  const need = chains.confirmations(payout.chainId);
  return { have: head.number < block ? 0 : Math.min(need, Number(head.number - block) + 1), need };
};

/** The newest block that is final now; null while the chain is younger than that. */
export const finalBlock = async ({ chains, payout }: Step): Promise<Head | null> => {
  const head = await chains.head(payout.chainId);
  const number = head.number - BigInt(chains.confirmations(payout.chainId) - 1);
  return number < 0n ? null : chains.block(payout.chainId, number);
};
