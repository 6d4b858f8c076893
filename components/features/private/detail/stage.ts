/** Derives the picture, progress and sentences of a private operation's page from its record. */
import { isFinal } from "@/lib/core/status";
import type { Observed, SceneKind, Stage } from "../observer/scenes";
import type { PrivateTransfer } from "../parts";

export type Progress = Pick<PrivateTransfer, "kind" | "status" | "subStatus" | "steps">;

/** Whether the treasury moves the money; operations of other kinds spend notes. */
export const isByTreasury = (kind: PrivateTransfer["kind"]): boolean =>
  kind === "shield" || kind === "public_exit";

/** Sub-statuses of a treasury operation that is not sent yet. */
const NOT_SENT: readonly PrivateTransfer["subStatus"][] = ["created", "prepared", "queued"];

export const stageOf = ({ kind, status, subStatus, steps }: Progress): Stage => {
  // An operation is pending until its first proof is stored.
  if (status === "pending") return subStatus === "proving" ? "proving" : "waiting";
  if (status === "completed" || status === "partially_completed") return "completed";
  if (isFinal(status)) return "ended";
  if (isByTreasury(kind)) return NOT_SENT.includes(subStatus) ? "waiting" : "sent";
  return steps.some(({ state }) => state === "submitted" || state === "completed")
    ? "sent"
    : "proving";
};

export const sceneKindOf = ({
  kind,
  toPrivacyWalletId,
}: Pick<PrivateTransfer, "kind" | "toPrivacyWalletId">): SceneKind => {
  if (kind === "private_transfer") return toPrivacyWalletId === null ? "transfer" : "inside";
  return kind === "private_swap" ? "swap" : kind;
};

interface Names {
  readonly wallet: string;
  readonly recipient: string;
  /** Formats an amount for a picture. */
  readonly amount: (amount: string, symbol: string) => string;
}

/** Describes an operation for the public view and the owner's view. */
export const observedOf = (transfer: PrivateTransfer, names: Names): Observed => {
  const { kind, amount, received, minimum } = transfer;
  const text = (value: PrivateTransfer["amount"]): string =>
    names.amount(value.amount, value.token.symbol);
  const isSwap = kind === "private_swap";
  const promised = isSwap && minimum !== null ? `≥ ${text(minimum)}` : null;
  const hasNote = received !== null && (isSwap || kind === "shield");
  return {
    kind: sceneKindOf(transfer),
    stage: stageOf(transfer),
    amount: text(amount),
    arrives: hasNote ? text(received) : promised,
    wallet: names.wallet,
    recipient: names.recipient,
    pool: `${amount.token.symbol} pool`,
    toPool: isSwap ? `${(minimum ?? amount).token.symbol} pool` : null,
    swapVenue: transfer.swapVenue,
    setSize: transfer.anonymitySet,
  };
};

/**
 * The estimated progress of a proof from 0 to 1. It never exceeds 0.97, because a late proof must
 * not look complete.
 */
export const proofShare = (
  proof: NonNullable<PrivateTransfer["proof"]>,
  now: number,
): number => {
  const elapsedS = Math.max(0, (now - Date.parse(proof.startedAt)) / 1000);
  return Math.min(0.97, elapsedS / (elapsedS + Math.max(1, proof.secondsLeft)));
};

/**
 * The current state in one sentence. The service writes it for an operation that waits for a person
 * or has ended; otherwise it follows from the current step.
 */
export const sentenceOf = (
  transfer: Progress & Pick<PrivateTransfer, "proof" | "outcome">,
): string => {
  const { status, kind, subStatus, steps, proof, outcome } = transfer;
  if (isFinal(status) || subStatus === "awaiting_approval") return outcome.sentence;
  if (isByTreasury(kind) && NOT_SENT.includes(subStatus))
    return "About to be sent by the treasury.";
  if (isByTreasury(kind)) return "Sent, waiting for confirmations.";
  const done = steps.filter(({ state }) => state === "completed").length;
  const notes =
    steps.length > 1 ? ` ${String(done)} of ${String(steps.length)} notes are done.` : "";
  if (proof !== null) return `Making the proof.${notes}`;
  if (steps.some(({ state }) => state === "submitted"))
    return `Sent, waiting for confirmations.${notes}`;
  if (steps.some(({ state }) => state === "proved"))
    return `The proof is made and is about to be sent.${notes}`;
  return `Waiting for the prover.${notes}`;
};
