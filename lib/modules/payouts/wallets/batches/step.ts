import type { TokenFreezes } from "@/lib/chains/token-freezes";
import type { Clock } from "@/lib/core/clock";
import type { Token } from "@/lib/core/token";
import type { SmartAccountsService, DeploymentClaims, ManagedAccount } from "@/lib/modules/smart-accounts/service";
import type { PolicyEngine } from "@/lib/modules/policies/service";
import type { SigningGate } from "@/lib/modules/signing/service";
import type { SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { ReceiptCheck, UserOperationReceipt } from "@/lib/ports/bundler";
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
    /** The newest block that is final; null while there is none. */
    finalNumber(chainId: number): Promise<bigint | null>;
    finalBlock(chainId: number): Promise<Head | null>;
    confirmations(chainId: number): number;
    /** Whether the service pays network fees up to a cap alone there. */
    hasFeeCap(chainId: number): boolean;
    blockTimeMs(chainId: number): number;
    pollIntervalMs(chainId: number): number;
    /** By lower-case address, or `native`. @throws DomainError `unsupported_token` */
    token(chainId: number, address: string): Token;
  };
  /** Whether the policies allowed exactly this. */
  isAllowed(
    projectId: string,
    evaluationId: string | null,
    subject: { readonly id: string; readonly digest: Uint8Array },
  ): Promise<boolean>;
  /** Screens recipients again. @see PolicyEngine */
  readonly screenAgain: PolicyEngine["screenAgain"];
  /** Reads which addresses a token's issuer has frozen. */
  readonly freezes: Pick<TokenFreezes, "areFrozen">;
  /** Whether any source of screening is set up. */
  readonly isScreening: () => Promise<boolean>;
  /** Answers whether an operation that the database lost in a restore has made a payment. */
  readonly lostMoves: Pick<SigningGate, "hasPaid">;
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

/** The project, chain and token of a batch's payments. */
export const placeOf = ({ payout: { projectId, chainId }, token }: Pick<Step, "payout" | "token">) => ({
  ...{ projectId, chainId, token },
});

/** The result of a step: the batch changed its state (run the next step at once), or it waits. */
export type StepResult = "moved" | "waits";

/**
 * The receipt of the signed operation; null while it is not mined. With `isExpected` the chain's providers have to agree before the
 * answer is another one.
 * @throws DomainError `chain_unavailable`
 */
export const readReceipt = (
  { smartAccounts, payout, batch }: Step,
  isExpected?: ReceiptCheck,
): Promise<UserOperationReceipt | null> => {
  if (batch.userOpHash === null || batch.fromBlock === null)
    throw new Error(`Batch ${String(batch.number)} of ${batch.payoutId} has no user operation.`);
  return smartAccounts.receipt(payout.chainId, batch.userOpHash, batch.fromBlock, isExpected);
};

/** The confirmations of a block, itself included (`have`; `need` exactly when it is final), and the number that makes it final (`need`). */
export const depthOf = async ({ chains, payout }: Step, block: bigint): Promise<{ have: number; need: number }> => {
  const need = chains.confirmations(payout.chainId);
  const [head, final] = await Promise.all([chains.head(payout.chainId), chains.finalNumber(payout.chainId)]);
  if (final !== null && block <= final) return { have: need, need };
  return { have: head.number < block ? 0 : Math.min(need - 1, Number(head.number - block) + 1), need };
};
