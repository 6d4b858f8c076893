/** Derives picture, progress and sentences of a private operation's page from its record, without side effects. */
import type { Observed, SceneKind, Stage } from "../observer/scenes";
import type { PrivateTransfer } from "../types";
import { isFinal } from "@/lib/core/status";

/** The parts of an operation's record that tell where it is. */
export type Progress = Pick<PrivateTransfer, "kind" | "status" | "subStatus" | "steps">;

/** The treasury moves the money of these; the rest spends notes. */
export const isByTreasury = (kind: PrivateTransfer["kind"]): boolean => kind === "shield" || kind === "public_exit";

/** Before it is sent, an operation of the treasury is prepared by the worker. */
const NOT_SENT: readonly PrivateTransfer["subStatus"][] = ["created", "prepared", "queued"];

export const stageOf = ({ kind, status, subStatus, steps }: Progress): Stage => {
  // An operation is pending until its first proof is kept.
  if (status === "pending") return subStatus === "proving" ? "proving" : "waiting";
  if (status === "completed" || status === "partially_completed") return "completed";
  if (isFinal(status)) return "ended";
  if (isByTreasury(kind)) return NOT_SENT.includes(subStatus) ? "waiting" : "sent";
  return steps.some(({ state }) => state === "submitted" || state === "completed") ? "sent" : "proving";
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
  /** Writes an amount for a picture. */
  readonly amount: (amount: string, symbol: string) => string;
}

/** The parts of an operation that observers and its owner see now. */
export const observedOf = (transfer: PrivateTransfer, names: Names): Observed => {
  const { amount, received, minimum } = transfer;
  const text = (value: PrivateTransfer["amount"]): string => names.amount(value.amount, value.token.symbol);
  const isSwap = transfer.kind === "private_swap";
  const promised = isSwap && minimum !== null ? `≥ ${text(minimum)}` : null;
  return {
    kind: sceneKindOf(transfer),
    stage: stageOf(transfer),
    amount: text(amount),
    arrives: received !== null && (isSwap || transfer.kind === "shield") ? text(received) : promised,
    wallet: names.wallet,
    recipient: names.recipient,
    pool: `${amount.token.symbol} pool`,
    toPool: isSwap ? `${(minimum ?? amount).token.symbol} pool` : null,
    swapVenue: transfer.swapVenue,
    setSize: transfer.anonymitySet,
  };
};

/** How much of a proof is made, 0 to 1, and never quite 1 before it is there. */
export const proofShare = (proof: NonNullable<PrivateTransfer["proof"]>, now: number): number => {
  const passed = Math.max(0, (now - Date.parse(proof.startedAt)) / 1000);
  return Math.min(0.97, passed / (passed + Math.max(1, proof.secondsLeft)));
};

/** The present state in one sentence, with the place of the money. */
export const sentenceOf = (transfer: Progress & Pick<PrivateTransfer, "proof">): string => {
  const { status, kind, subStatus, steps, proof } = transfer;
  switch (status) {
    case "pending":
      if (subStatus === "awaiting_approval") return "Waiting for approval. Nothing was sent.";
      break;
    case "completed":
      return kind === "shield" ? "Shielded. The note can be spent once the deposit is approved." : "Completed.";
    case "partially_completed":
      return "A part arrived. The rest is still in your notes.";
    case "failed":
      return isByTreasury(kind) ? "Failed. The money is where it was." : "Failed. The money is in your notes.";
    case "cancelled":
      return "Cancelled. Nothing was sent.";
    case "expired":
      return "Nobody approved it in time. Nothing was sent.";
    case "refunded":
      return "The money is back.";
    case "processing":
      break;
  }
  if (isByTreasury(kind))
    return NOT_SENT.includes(subStatus) ? "About to be sent by the treasury." : "Sent, waiting for confirmations.";
  const done = steps.filter(({ state }) => state === "completed").length;
  const notes = steps.length > 1 ? ` ${String(done)} of ${String(steps.length)} notes are done.` : "";
  if (proof !== null) return `Making the proof.${notes}`;
  if (steps.some(({ state }) => state === "submitted")) return `Sent, waiting for confirmations.${notes}`;
  if (steps.some(({ state }) => state === "proved")) return `The proof is made and is about to be sent.${notes}`;
  return `Waiting for the prover.${notes}`;
};
