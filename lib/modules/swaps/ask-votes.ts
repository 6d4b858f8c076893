/** Moves of managed wallets that wait until people of the project have voted, where the project's setting demands it. */
import { titleAmount } from "@/lib/core/amount-text";
import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { Tx } from "@/lib/db/client";
import { doneBy, recordAudit, type AuditData } from "@/lib/modules/audit/service";
import type { AddressNames } from "@/lib/modules/contacts/service";
import type { DecisionsService, Requirement } from "@/lib/modules/decisions/service";
import type { Operation, OperationsService } from "@/lib/modules/operations/service";
import {
  approvalAddresses,
  approvalLines,
  expectedOut,
  type PreparedLeg,
  type Quote,
  type SourceWallet,
} from "@/lib/modules/quotes/service";
import type { RouteRequest } from "@/lib/ports/routing";

export interface VotesDeps {
  readonly decisions: Pick<DecisionsService, "open" | "requirementOf" | "refuseCode">;
  readonly operations: Pick<OperationsService, "startAwaiting">;
  readonly registry: { get(chainId: number): { readonly name: string } };
  readonly names: AddressNames;
  readonly clock: Clock;
}

const APPROVAL_SECONDS = 24 * 3600;
export const OPERATION_SUBJECT = "operation";

const TITLES: Readonly<Record<string, string>> = {
  swap: "Swap",
  transfer: "Transfer",
  swap_and_transfer: "Swap and transfer",
};

/** `Transfer of 12.50 USDC on Base`; with several sources, their number. */
const titleOf = (deps: VotesDeps, { kind, request }: Quote): string => {
  const name = TITLES[kind] ?? "Payment";
  const [source, ...others] = request.sources;
  if (source === undefined || others.length > 0) return `${name} from ${String(request.sources.length)} sources`;
  const { token, amountBase } = source;
  return `${name} of ${titleAmount(amountBase, token)} on ${deps.registry.get(token.chainId).name}`;
};

export interface Waiting {
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  /** The votes that it needs; null: the code of one person. */
  readonly required: Requirement | null;
  /** Marks the quote as used. @throws DomainError when it was used already */
  readonly claim: (tx: Tx, operationId: string) => Promise<void>;
  /** How the maker has consented, for the audit log. */
  readonly consent?: AuditData;
}

/** Stores the operation of a quote as awaiting approval, and in the same transaction the request for votes where they are needed. */
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
    expiresAfterSeconds: APPROVAL_SECONDS,
    claim: async (tx, operationId) => {
      await claim(tx, operationId);
      const at = deps.clock.now();
      const data = { kind, quoteId: quote.id, ...consent };
      await recordAudit(tx, { ...doneBy(actor), action: "operation.requested", subject: operationId, data, at });
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

type By = Pick<PreparedLeg, "by">;

/**
 * The votes that a quote needs before the service signs for it; null when it needs none. A wallet that signs for itself moves its money
 * with or without votes, so only moves of managed wallets wait. A key within its cap needs nobody's approval.
 * @throws DomainError `invalid_state` for a quote of both kinds of wallets: the signatures of the others would not stay good for so long
 */
export const votesFor = async (
  { decisions }: Pick<VotesDeps, "decisions">,
  quote: Pick<Quote, "projectId" | "approvedAt">,
  legs: readonly By[],
): Promise<Requirement | null> => {
  if (quote.approvedAt === null || !legs.some(({ by }) => by === "service")) return null;
  const required = await decisions.requirementOf(quote.projectId);
  if (required === null || legs.every(({ by }) => by === "service")) return required;
  throw new DomainError(
    "invalid_state",
    "This project approves payments by votes, and a payment that waits for votes cannot spend from a wallet that signs for itself beside a managed one. The service sent nothing; make one payment for each.",
  );
};
