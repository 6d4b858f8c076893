import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { Tx } from "@/lib/db/client";
import { doneBy, type AuditData } from "@/lib/modules/audit/service";
import type { OperationsService } from "@/lib/modules/operations/service";
import type { RouteRequest } from "@/lib/ports/routing";
import {
  endOf,
  type PreparedLeg,
  type Quote,
  type QuotesService,
  type SourceWallet,
  type Subject,
} from "@/lib/modules/quotes/service";
import { codeRequired, type Authorization } from "./authorize";
import { subjectField } from "./prepare";
import { applySignatures, type GivenSignature, type SignatureDeps } from "./signatures";

export interface ExecuteDeps extends SignatureDeps {
  quotes: QuotesService;
  operations: OperationsService;
  clock: Clock;
}

type NewLegs = Parameters<OperationsService["start"]>[0]["legs"];
type Claim = (tx: Tx, operationId: string, now: Date) => Promise<boolean>;

/** Wallets that sent what they were asked to send are taken at their word for so long after the price lock. */
const LATE_SECONDS_MAX = 3600;

/** Why a quote could not be claimed: somebody used or cancelled it, or prepared it anew, since it was read. */
const refusal = (quote: Quote): DomainError =>
  endOf(quote) ??
  new DomainError("invalid_state", "This quote was prepared anew in the meantime. Nothing was sent; execute again.");

const SENT_BY_WALLETS =
  "Nothing was sent by the service. What your own wallet sent by itself stays sent; its history shows it.";

const sentText = (legs: readonly { readonly via: string }[]): string =>
  legs.some(({ via }) => via === "transaction") ? SENT_BY_WALLETS : "Nothing was sent.";

const lockIsOver = (legs: NewLegs = []): DomainError =>
  new DomainError("quote_expired", `The price was locked for a while that is over. ${sentText(legs)} Prepare again.`);

const readPrepared = (quote: Quote, now: Date): { preparedUntil: Date; legs: readonly PreparedLeg[] } => {
  const end = endOf(quote);
  if (end !== null) throw end;
  if (quote.status !== "prepared" || quote.preparedUntil === null) {
    throw new DomainError("invalid_state", "This quote is not prepared yet (POST /swap/prepare). Nothing was sent.");
  }
  if (addSeconds(quote.preparedUntil, LATE_SECONDS_MAX) <= now) throw lockIsOver();
  return { preparedUntil: quote.preparedUntil, legs: quote.preparedLegs };
};

export interface Acceptance {
  readonly quote: Quote;
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  readonly legs: NewLegs;
  /** The operation that awaited approval, where it is let run now. */
  readonly operationId?: string;
  /** The code that approved that operation. */
  readonly codeId?: string;
  /** Something else of which it is a part was approved, or counts against the key's cap itself. */
  readonly isCovered?: boolean;
  /** The operation is nothing but what wallets have sent by themselves: refusing it now would only lose sight of the money. */
  readonly allSent: boolean;
  /** Uses the quote up. */
  readonly claim: Claim;
}

/** By which means the money was let go, for the audit log. */
const meansOf = ({ quote, codeId, allSent }: Acceptance): AuditData => {
  if (codeId !== undefined) return { means: "code", codeId };
  if (quote.approvedAt !== null) return { means: "code", codeId: quote.approvalCodeId, approvedBy: quote.approvedBy };
  return { means: allSent ? "wallet" : "policy" };
};

export const createExecute = (deps: ExecuteDeps, authorization: Authorization) => {
  const { quotes } = deps;

  /** The policy's cap and the one retry count in the transaction that accepts the operation, or not at all. */
  const claims = async (actor: Actor, acceptance: Acceptance): Promise<Claim> => {
    const { quote, operationId, legs, allSent, claim, isCovered = false } = acceptance;
    // An operation that awaited approval is let run by its code.
    const spend = operationId === undefined && !isCovered ? await authorization.spending(actor, quote) : null;
    return async (tx, id, now) => {
      if (!(await claim(tx, id, now))) return false;
      if (spend !== null && !(await spend(tx, now)) && !allSent) {
        throw codeRequired(`The key's daily cap was reached meanwhile. ${sentText(legs)}`);
      }
      const retryOf = quote.retryOf;
      if (retryOf !== null && !(await deps.operations.claimRetry(tx, { of: retryOf, by: id, now }))) {
        throw new DomainError(
          "invalid_state",
          "The operation was tried again already; what failed is sent once more only once. Nothing was sent now.",
          { extra: { retryOf } },
        );
      }
      return true;
    };
  };

  /**
   * Accepts the operation of a quote; the workers carry it on. Null when the quote was used already, or the operation awaits approval
   * no more.
   */
  const accept = async (actor: Actor, acceptance: Acceptance) => {
    const { quote, request, wallets, legs, operationId } = acceptance;
    return deps.operations.start({
      projectId: quote.projectId,
      ...(operationId === undefined ? {} : { operationId }),
      kind: quote.kind,
      createdBy: actorName(actor),
      origin: { quoteId: quote.id, transferId: quote.transferId, retryOf: quote.retryOf },
      request,
      wallets,
      legs,
      claim: await claims(actor, acceptance),
      audit: {
        ...doneBy(actor),
        action: operationId === undefined ? "operation.executed" : "operation.approved",
        data: {
          kind: quote.kind,
          quoteId: quote.id,
          ...(quote.transferId === null ? {} : { transferId: quote.transferId }),
          ...(quote.retryOf === null ? {} : { retryOf: quote.retryOf }),
          ...meansOf(acceptance),
        },
      },
    });
  };

  /**
   * Accepts the operation, once, and hands it to the workers. One that is nothing but what wallets of one's own have sent is recorded
   * also when the price lock is over: refusing it would not bring it back.
   * @throws DomainError `invalid_state` (not prepared), `quote_expired`, `quote_already_used`, `otp_required` (the key's cap was
   *   passed meanwhile), `insufficient_balance`, `invalid_signature` naming every action that is missing or of something else
   */
  const execute = async (actor: Actor, subject: Subject, signatures: readonly GivenSignature[] = []) => {
    const quote = await quotes.get(actor, subject);
    const { preparedUntil, legs } = readPrepared(quote, deps.clock.now());
    const { request, route } = quote;
    authorization.checkRecipient(actor, request, subjectField(subject));
    const signed = await applySignatures(deps, { legs, routeLegs: route.legs, signatures });
    const isLate = preparedUntil <= deps.clock.now();
    if (isLate && !signed.allSent) throw lockIsOver(signed.legs);
    const operation = await accept(actor, {
      quote,
      request,
      wallets: await quotes.walletsOf(actor.projectId, request),
      legs: signed.legs,
      allSent: signed.allSent,
      claim: (tx, operationId, now) =>
        quotes.claim(tx, { id: quote.id, operationId, preparedUntil, now: isLate ? null : now }),
    });
    if (operation === null) throw refusal(await quotes.get(actor, subject));
    return {
      operationId: operation.id,
      ...(quote.transferId === null ? {} : { transferId: quote.transferId }),
      status: operation.status,
      subStatus: operation.subStatus,
    };
  };

  return { accept, execute };
};

export type Execute = ReturnType<typeof createExecute>;
