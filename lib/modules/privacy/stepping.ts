import { addSeconds } from "@/lib/core/clock";
import { toBigInt } from "@/lib/db/decimal";
import {
  NoteGoneError,
  NotReadyError,
  type PrivacyEngine,
  type Spend,
  type SpendOutcome,
  type SpendRefusal,
  type SpendTransaction,
} from "@/lib/ports/privacy";
import type { EvmAddress } from "@/lib/ports/routing";
import { storedAddress, storedHex, storedToken } from "@/lib/ports/routing-json";
import { NotWantedError, type ChainTransactionsService } from "@/lib/modules/chain-transactions/service";
import type { Clock } from "@/lib/core/clock";
import { z } from "zod";
import type { PrivacyRepository, StepRow, TransferRow } from "./repository";
import type { PrivateWallets } from "./wallets";

const EXECUTOR_KEY_ID = "executor";
/** A swap that is not mined by then brings the note back. */
const DEADLINE_SECONDS = 1200;
/** New proofs of one step; the set and the tree move on while one is made, but not for ever. */
const ATTEMPTS_MAX = 20;
/** A note that cannot be used for so long is given up: its money stays where it is. */
const WAIT_SECONDS_MAX = 1800;

const storedTransaction = z.object({ to: storedAddress, data: storedHex, nullifierHash: z.string() });

export interface SteppingDeps {
  readonly repository: PrivacyRepository;
  readonly privateWallets: PrivateWallets;
  readonly engine: PrivacyEngine;
  readonly transactions: Pick<ChainTransactionsService, "send" | "find">;
  readonly fees: (chainId: number) => Promise<{ readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }>;
  readonly wallets: { treasury(projectId: string): Promise<{ readonly address: EvmAddress } | null> };
  readonly clock: Clock;
}

/** moved: look again at once. waits: nothing to do for now. */
export type StepResult = "moved" | "waits";

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retryable: boolean;
}

const IN_NOTE = "The money is in the private note.";
const SPENT: Failure = {
  code: "note_spent",
  message: "The note was spent by somebody else who has the wallet's mnemonic. This operation paid nothing out of it.",
  retryable: false,
};
const REFUSED: Failure = {
  code: "pool_refused",
  message: `The contracts refuse it: a swap would bring less than its minimum, its time is over, or the recipient takes nothing. ${IN_NOTE}`,
  retryable: true,
};
const NOT_READY: Failure = {
  code: "note_not_ready",
  message: `The note could not be used for a long time. ${IN_NOTE}`,
  retryable: true,
};

const PENDING = [
  { status: "pending", subStatus: "prepared" },
  { status: "pending", subStatus: "proving" },
] as const;
const UNDER_WAY = [
  { status: "processing", subStatus: "source_submitted" },
  { status: "processing", subStatus: "source_confirmed" },
] as const;
const SUBMITTED = { status: "processing", subStatus: "source_submitted" } as const;

/** The same step never gets two transactions for one proof. */
const purposeOf = ({ operationId, position }: StepRow, attempt: number): string =>
  `privacy:${operationId}:${String(position)}:${String(attempt)}`;

/** Carries one spent note from its proof to the end. Every state is a row that any instance can go on from. */
export const createStepping = (deps: SteppingDeps) => {
  const { repository, engine, transactions, clock, privateWallets } = deps;

  const moveTo = async (...move: Parameters<PrivacyRepository["moveStep"]>): Promise<StepResult> => {
    // Where somebody else was quicker there is nothing to do but to look again.
    await repository.moveStep(...move);
    return "moved";
  };

  const fail = (step: StepRow, failure: Failure): Promise<StepResult> =>
    moveTo(step, "failed", { failure }, null, clock.now());

  const spendOf = async (transfer: TransferRow, step: StepRow): Promise<Spend> => {
    const walletOf = async (id: string) =>
      privateWallets.keyOf(await privateWallets.find(transfer.projectId, id, "privacyWalletId"));
    const common = {
      chainId: step.chainId,
      token: storedToken.parse(transfer.token),
      wallet: await walletOf(transfer.walletId),
      noteId: step.noteId,
      withdrawBase: toBigInt(step.withdrawBase),
    };
    if (transfer.toWalletId === null || step.slotNumber === null) {
      return { ...common, to: "address", recipient: storedAddress.parse(transfer.toAddress) };
    }
    const treasury = await deps.wallets.treasury(transfer.projectId);
    if (treasury === null) throw new Error("The project has no treasury.");
    return {
      ...common,
      to: "note",
      slot: { wallet: await walletOf(transfer.toWalletId), index: step.slotNumber },
      tokenOut: storedToken.parse(transfer.tokenOut),
      path: transfer.path === null ? null : storedHex.parse(transfer.path),
      minimumOutBase: transfer.path === null ? 0n : toBigInt(step.outBase),
      exitOwner: treasury.address,
      deadline: addSeconds(clock.now(), DEADLINE_SECONDS),
    };
  };

  const complete = (step: StepRow, txHash: `0x${string}`, outcome: SpendOutcome): Promise<StepResult> => {
    const { blockNumber, receivedBase } = outcome;
    return moveTo(step, "completed", { txHash, blockNumber, receivedBase }, null, clock.now());
  };

  /**
   * The note is spent. That may be the work of this step: a reorganisation deeper than a chain's confirmations can bring back a
   * transaction that had failed for good. Whoever gave the step up then would pay a second time with its retry.
   */
  const spent = async (step: StepRow): Promise<StepResult> => {
    for (let attempt = 0; attempt <= step.attempt; attempt += 1) {
      const sent = await transactions.find(step.chainId, purposeOf(step, attempt));
      if (sent === null) continue;
      if (sent.minedHash === null || sent.status !== "final") return "waits";
      const outcome = await engine.outcome(step.chainId, sent.minedHash);
      if (outcome === null) return "waits";
      if (outcome.success) return complete(step, sent.minedHash, outcome);
    }
    return fail(step, SPENT);
  };

  const refused = (step: StepRow, refusal: SpendRefusal): Promise<StepResult> => {
    if (refusal === "moved") return anew(step);
    return refusal === "spent" ? spent(step) : fail(step, REFUSED);
  };

  /** The time of a step that waits for another one's proof has not begun. */
  const isOverdue = ({ provingSince }: StepRow): boolean =>
    provingSince !== null && addSeconds(provingSince, WAIT_SECONDS_MAX) < clock.now();

  /** Makes the proof, and keeps its transaction before anybody is shown it. A cancelled operation keeps none. */
  const queued = async (transfer: TransferRow, step: StepRow, signal: AbortSignal): Promise<StepResult> => {
    let transaction: SpendTransaction;
    try {
      // The time left is counted from the proof's turn. It is shown and nothing else, so nobody waits for it to be stored.
      const onStart = (): void => void repository.noteProofBegan(step, clock.now()).catch(() => undefined);
      transaction = await engine.prove(await spendOf(transfer, step), signal, onStart);
    } catch (error) {
      // After an outage it is tried at least once more.
      if (error instanceof NotReadyError) return isOverdue(step) ? fail(step, NOT_READY) : "waits";
      if (error instanceof NoteGoneError) return spent(step);
      throw error;
    }
    const { operationId } = step;
    const from = [...PENDING, ...UNDER_WAY];
    return moveTo(
      step,
      "proved",
      { transaction },
      { operationId, from, to: SUBMITTED, event: "operation.processing" },
      clock.now(),
    );
  };

  const anew = (step: StepRow): Promise<StepResult> =>
    step.attempt + 1 >= ATTEMPTS_MAX
      ? fail(step, NOT_READY)
      : moveTo(
          step,
          "queued",
          { attempt: step.attempt + 1, transaction: null, txHash: null, provingSince: clock.now() },
          null,
          clock.now(),
        );

  const proved = async (step: StepRow): Promise<StepResult> => {
    const { to, data } = storedTransaction.parse(step.transaction);
    const { chainId } = step;
    const checked = await engine.check(chainId, { to, data });
    if ("refusal" in checked) return refused(step, checked.refusal);
    const fees = await deps.fees(chainId);
    const purpose = purposeOf(step, step.attempt);
    const transaction = { chainId, keyId: EXECUTOR_KEY_ID, purpose, to, data, value: 0n, gas: checked.gas, fees };
    try {
      await transactions.send(transaction, (tx) => repository.claimSubmission(tx, step, clock.now()));
    } catch (error) {
      // Another worker went on with this step, or gave it up.
      if (!(error instanceof NotWantedError)) throw error;
    }
    return "moved";
  };

  const submitted = async (step: StepRow): Promise<StepResult> => {
    const sent = await transactions.find(step.chainId, purposeOf(step, step.attempt));
    if (sent === null) throw new Error("A transaction is missing that was stored.");
    if (step.txHash === null) return moveTo(step, "submitted", { txHash: sent.hash }, null, clock.now());
    // The reconciler offers it again where nodes have lost it. What is mined a reorganisation may still take back.
    if (sent.minedHash === null || sent.status !== "final") return "waits";
    const outcome = await engine.outcome(step.chainId, sent.minedHash);
    if (outcome === null) return "waits";
    if (outcome.success) return complete(step, sent.minedHash, outcome);
    const { to, data } = storedTransaction.parse(step.transaction);
    const checked = await engine.check(step.chainId, { to, data });
    return "refusal" in checked ? refused(step, checked.refusal) : anew(step);
  };

  return {
    /** @throws DomainError `chain_unavailable`, `provider_error`; the signal's reason */
    step: async (transfer: TransferRow, step: StepRow, signal: AbortSignal): Promise<StepResult> => {
      switch (step.state) {
        case "queued":
          return queued(transfer, step, signal);
        case "proved":
          return proved(step);
        case "submitted":
          return submitted(step);
        case "completed":
        case "failed":
          return "waits";
      }
    },
  };
};
