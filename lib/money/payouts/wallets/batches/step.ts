import type { TokenFreezes } from "@/lib/chain/token-freezes";
import type { Clock } from "@/lib/core/clock";
import type { Token } from "@/lib/core/token";
import type {
  DeploymentClaims,
  ManagedAccount,
  SmartAccountsService,
} from "@/lib/chain/smart-accounts/service";
import type { PolicyEngine } from "@/lib/trust/policies/service";
import type { SigningGate } from "@/lib/money/signing/service";
import type { SponsorshipService } from "@/lib/books/sponsorship/service";
import type { ReceiptCheck, UserOperationReceipt } from "@/lib/chain/ports/bundler";
import type { PayoutGasWaits } from "./gas-wait-repository";
import type { DrivenPayout, PayoutBatch } from "./payout-batch";
import type { BatchRepository } from "./repository";

export interface Head {
  readonly number: bigint;
  /** Unix time in seconds. */
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
    /** The number of the newest final block; null while no block is final. */
    finalNumber(chainId: number): Promise<bigint | null>;
    finalBlock(chainId: number): Promise<Head | null>;
    confirmations(chainId: number): number;
    /** Whether the network fees that the service pays on this chain have a configured cap. */
    hasFeeCap(chainId: number): boolean;
    blockTimeMs(chainId: number): number;
    pollIntervalMs(chainId: number): number;
    /**
     * Finds a token by its lower-case address, or `native`.
     * @throws DomainError `unsupported_token`
     */
    token(chainId: number, address: string): Token;
  };
  isAllowed(
    projectId: string,
    evaluationId: string | null,
    subject: { readonly id: string; readonly digest: Uint8Array },
  ): Promise<boolean>;
  /** Screens recipients again before a payment leaves. See `PolicyEngine`. */
  readonly screenAgain: PolicyEngine["screenAgain"];
  readonly freezes: Pick<TokenFreezes, "areFrozen">;
  readonly isScreening: () => Promise<boolean>;
  /** Answers whether an operation that the database lost in a restore has made a payment. */
  readonly lostMoves: Pick<SigningGate, "hasPaid">;
  managedAccount(projectId: string, walletId: string): Promise<ManagedAccount | null>;
}

export interface Step extends BatchDeps {
  readonly payout: DrivenPayout;
  readonly batch: PayoutBatch;
  readonly account: ManagedAccount;
  readonly token: Token;
  /**
   * For each hash of a user operation, the time in milliseconds since 1970 at which this process
   * last submitted the operation.
   */
  readonly offeredAt: Map<string, number>;
}

export const placeOf = ({
  payout: { projectId, chainId },
  token,
}: Pick<Step, "payout" | "token">) => ({
  ...{ projectId, chainId, token },
});

/**
 * The result of a step. `moved`: the batch changed its state, and its next step runs immediately.
 * `waits`: the next step runs later.
 */
export type StepResult = "moved" | "waits";

/**
 * Reads the receipt of the signed operation; null while it is not mined. With `isExpected`, the
 * chain's providers must agree before an unexpected answer is returned.
 * @throws DomainError `chain_unavailable`
 */
export const readReceipt = (
  { smartAccounts, payout, batch }: Step,
  isExpected?: ReceiptCheck,
): Promise<UserOperationReceipt | null> => {
  if (batch.userOpHash === null || batch.fromBlock === null)
    throw new Error(
      `Batch ${String(batch.number)} of ${batch.payoutId} has no user operation.`,
    );
  return smartAccounts.receipt(payout.chainId, batch.userOpHash, batch.fromBlock, isExpected);
};

/**
 * Returns the confirmations of a block, including the block itself (`have`), and the number that
 * makes it final (`need`). `have` equals `need` exactly when the block is final.
 */
export const depthOf = async (
  { chains, payout }: Step,
  block: bigint,
): Promise<{ have: number; need: number }> => {
  const need = chains.confirmations(payout.chainId);
  const [head, final] = await Promise.all([
    chains.head(payout.chainId),
    chains.finalNumber(payout.chainId),
  ]);
  if (final !== null && block <= final) return { have: need, need };
  return {
    have: head.number < block ? 0 : Math.min(need - 1, Number(head.number - block) + 1),
    need,
  };
};
