/** Private operations that wait until people of the project have voted on them. */
import type { Actor } from "@/lib/core/actor";
import { titleAmount } from "@/lib/core/amount-text";
import { addSeconds } from "@/lib/core/clock";
import type { Tx } from "@/lib/db/client";
import type { CodeMeans } from "@/lib/modules/otp/service";
import { votesOf, type Intent, type RequiredApproval } from "@/lib/modules/policies/service";
import type { PrivacyContext } from "./context";
import type { PrivateTransfer } from "./private-transfer";

/** How long a private operation can be approved. */
export const APPROVAL_SECONDS = 24 * 3600;

/** How an operation that awaited approval was approved. */
export type Consent =
  | { readonly means: CodeMeans; readonly codeId: string }
  | { readonly means: "votes"; readonly decisionId: string };

/** How the policies are asked about an approved operation. */
export const admissionOf = (consent: Consent) => ({
  hasCode: true,
  ...(consent.means === "votes" ? { decisionId: consent.decisionId } : {}),
});

/** The operation as requests for votes name it. */
export const subjectOf = (operationId: string) => ({ type: "operation", id: operationId });

/**
 * The votes that an operation needs before it may run; null where the code of one person approves it.
 * @throws PolicyViolationError when no vote would let it pass
 */
export const votesFor = async (context: PrivacyContext, intent: Intent): Promise<RequiredApproval | null> => {
  const { approval } = await context.policyEngine.refuse(intent);
  return votesOf(await context.decisions.requirementOf(intent.projectId), approval);
};

const TITLES: Readonly<Record<PrivateTransfer["kind"], string>> = {
  shield: "Shield",
  unshield: "Unshield",
  private_transfer: "Private transfer",
  private_swap: "Private swap",
  public_exit: "Public exit",
};

const titleOf = ({ registry }: PrivacyContext, { kind, token, amountBase, chainId }: PrivateTransfer): string =>
  `${TITLES[kind]} of ${titleAmount(amountBase, token)} on ${registry.get(chainId).name}`;

/** Asks for votes in the transaction that stores the operation. @param lines what is approved, in words */
export const askForVotes = async (
  context: PrivacyContext,
  tx: Tx,
  maker: Actor,
  {
    transfer,
    lines,
    required,
  }: {
    readonly transfer: PrivateTransfer;
    readonly lines: readonly string[];
    readonly required: RequiredApproval | null;
  },
): Promise<void> => {
  if (required === null) return;
  const { projectId, operationId, digest } = transfer;
  await context.decisions.open(tx, {
    projectId,
    subject: subjectOf(operationId),
    digest,
    title: titleOf(context, transfer),
    lines,
    maker,
    required,
    expiresAt: addSeconds(context.clock.now(), APPROVAL_SECONDS),
    private: true,
  });
};

/** @throws DomainError `invalid_state` where people have to vote on the operation */
export const refuseCodeWhereVotes = ({ decisions }: PrivacyContext, transfer: PrivateTransfer): Promise<void> =>
  decisions.refuseCode({ projectId: transfer.projectId, subject: subjectOf(transfer.operationId) });
