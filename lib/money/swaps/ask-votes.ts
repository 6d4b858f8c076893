/** Stores movements of managed wallets that wait until people of the project have voted. */
import { titleAmount } from "@/lib/core/amount-text";
import { type Actor, actorName } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { movementKind } from "@/lib/core/movement-kinds";
import type { Tx } from "@/lib/platform/db/client";
import { doneBy, recordAudit, type AuditData } from "@/lib/news/audit/service";
import type { AddressNames } from "@/lib/books/contacts/service";
import type { DecisionsService, Requirement } from "@/lib/trust/decisions/service";
import type { Operation, OperationsService } from "@/lib/money/operations/service";
import {
  approvalAddresses,
  approvalLines,
  expectedOut,
  type PreparedLeg,
  type Quote,
  type SourceWallet,
} from "@/lib/money/quotes/service";
import type { RouteRequest } from "@/lib/core/route-request";

export interface VotesDeps {
  readonly decisions: Pick<DecisionsService, "open">;
  readonly operations: Pick<OperationsService, "startAwaiting">;
  readonly registry: { get(chainId: number): { readonly name: string } };
  readonly names: AddressNames;
  readonly clock: Clock;
}

const APPROVAL_SECONDS = 24 * 3600;
export const OPERATION_SUBJECT = "operation";

/**
 * A title such as `Transfer of 12.50 USDC on Base`. For several sources, the title gives their
 * number.
 */
const titleOf = (deps: VotesDeps, { kind, request }: Quote): string => {
  const name = movementKind(kind)?.words ?? "Payment";
  const [source, ...others] = request.sources;
  if (source === undefined || others.length > 0)
    return `${name} from ${String(request.sources.length)} sources`;
  const { token, amountBase } = source;
  return `${name} of ${titleAmount(amountBase, token)} on ${deps.registry.get(token.chainId).name}`;
};

export interface Waiting {
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  /** The votes that the operation needs; null when one person's code suffices. */
  readonly required: Requirement | null;
  /**
   * Marks the quote as used.
   * @throws DomainError when the quote was used already
   */
  readonly claim: (tx: Tx, operationId: string) => Promise<void>;
  /** How the requester has consented, for the audit log. */
  readonly consent?: AuditData;
}

/**
 * Stores the operation of a quote as awaiting approval, and in the same transaction the request for
 * votes when `required` is set.
 */
export const letWait = async (
  deps: VotesDeps,
  actor: Actor,
  quote: Quote,
  { request, wallets, required, claim, consent = {} }: Waiting,
): Promise<Operation> => {
  const { projectId, kind } = quote;
  const names = await deps.names.of(projectId, approvalAddresses(request));
  return deps.operations.startAwaiting({
    projectId,
    kind,
    createdBy: actorName(actor),
    origin: { quoteId: quote.id, transferId: quote.transferId, retryOf: quote.retryOf },
    request,
    wallets,
    expectedBase: expectedOut(quote.route),
    minimumBase: quote.minimumBase,
    balanceChanges: quote.balanceChanges,
    expiresAfterSeconds: APPROVAL_SECONDS,
    claim: async (tx, operationId) => {
      await claim(tx, operationId);
      const at = deps.clock.now();
      const data = { kind, quoteId: quote.id, ...consent };
      await recordAudit(tx, {
        ...doneBy(actor),
        action: "operation.requested",
        subject: operationId,
        data,
        at,
      });
      if (required === null) return;
      await deps.decisions.open(tx, {
        projectId,
        subject: { type: OPERATION_SUBJECT, id: operationId },
        digest: new Uint8Array(quote.digest),
        title: titleOf(deps, quote),
        lines: approvalLines(request, quote.minimumBase, {
          chainName: (chainId) => deps.registry.get(chainId).name,
          names,
        }),
        maker: actor,
        required,
        expiresAt: addSeconds(at, APPROVAL_SECONDS),
      });
    },
  });
};

/**
 * Refuses a payment that needs votes and spends from a wallet that signs for itself, because the
 * wallet's signature would expire during the vote.
 * @param approval the required votes; null when none are required
 * @throws DomainError `invalid_state`
 */
export const requireWaitable = (
  approval: Requirement | null,
  legs: readonly Pick<PreparedLeg, "by">[],
): void => {
  if (approval === null || legs.every(({ by }) => by === "service")) return;
  throw new DomainError(
    "invalid_state",
    "This payment needs votes, and a payment that waits for votes cannot spend from a wallet that signs for itself. The service sent nothing; pay from managed wallets only, or make one payment for each.",
  );
};
