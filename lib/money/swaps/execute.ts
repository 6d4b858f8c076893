import { type Actor, actorName } from "@/lib/core/actor";
import {
  type Check,
  type Intent,
  needsVotes,
  type Outflow,
  routeIntent,
  votesOf,
} from "@/lib/trust/policies/service";
import {
  endOf,
  type PreparedLeg,
  type Quote,
  type QuotesService,
  type SourceWallet,
  type Subject,
} from "@/lib/money/quotes/service";
import type { RouteRequest } from "@/lib/core/route-request";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { type Sql, sqlOf } from "@/lib/platform/db/sql";
import { type AuditData, doneBy } from "@/lib/news/audit/service";
import type { Funds } from "@/lib/books/holds/service";
import {
  type Claim,
  claimRetry,
  type Enforce,
  type Operation,
  type OperationsService,
} from "@/lib/money/operations/service";
import { letWait, type VotesDeps } from "./ask-votes";
import { type Authorization, codeRequired } from "./authorize";
import { subjectField } from "./prepare";
import { applySignatures, type GivenSignature, type SignatureDeps } from "./signatures";

interface Accepted {
  readonly quote: Pick<Quote, "kind" | "createdBy">;
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  readonly isCovered?: boolean;
}

/**
 * For each part of an intent, the field of POST /payouts/bulk/wallets that an error of the policies
 * about this part names, for money that a payout brings from other chains.
 */
const FUNDING_FIELDS: Intent["fields"] = {
  amount: "transfers",
  recipient: "transfers",
  chain: "fundFrom",
  token: "fundFrom",
};

/**
 * Builds the intent that the policies evaluate. The amounts of an operation that brings money to a
 * payout (`isCovered`) count with the payout. Here they count only in the policies of the other
 * wallets that provide the money.
 */
const intentOf = (
  actor: Actor,
  { quote, request, wallets, isCovered = false }: Accepted,
): Intent => {
  const intent = routeIntent(actor, {
    kind: quote.kind,
    request,
    wallets,
    createdBy: quote.createdBy,
  });
  if (!isCovered) return intent;
  const payer = request.destination.recipient.toLowerCase();
  const outflows = intent.outflows.map((outflow, index): Outflow => {
    const isPayer = request.sources[index]?.owner.toLowerCase() === payer;
    return { ...outflow, countsIn: isPayer ? "none" : "wallet" };
  });
  return { ...intent, kind: "payout_funding", outflows, fields: FUNDING_FIELDS };
};

export interface ExecuteDeps extends SignatureDeps, Pick<VotesDeps, "decisions" | "names"> {
  quotes: QuotesService;
  operations: OperationsService;
  clock: Clock;
}

type NewLegs = Parameters<OperationsService["start"]>[0]["legs"];

/**
 * Seconds after the price lock during which `execute` still accepts a quote when its wallets have
 * sent all transactions. Nodes may show the transactions only after the price lock.
 */
const LATE_SECONDS_MAX = 3600;

/**
 * The error for a quote that could not be claimed, because another call used, cancelled or
 * prepared it in the meantime.
 */
const refusal = (quote: Quote): DomainError =>
  endOf(quote) ??
  new DomainError(
    "invalid_state",
    "This quote was prepared again in the meantime. Nothing was sent; execute again.",
  );

const SENT_BY_WALLETS =
  "Nothing was sent by the service. What your own wallet sent by itself stays sent; its history shows it.";

const sentText = (legs: readonly { readonly via: string }[]): string =>
  legs.some(({ via }) => via === "transaction") ? SENT_BY_WALLETS : "Nothing was sent.";

const lockIsOver = (legs: NewLegs = []): DomainError =>
  new DomainError(
    "quote_expired",
    `The price was locked for a while that is over. ${sentText(legs)} Prepare again.`,
  );

const readPrepared = (
  quote: Quote,
  now: Date,
): { preparedUntil: Date; legs: readonly PreparedLeg[] } => {
  const end = endOf(quote);
  if (end !== null) throw end;
  if (quote.status !== "prepared" || quote.preparedUntil === null) {
    throw new DomainError(
      "invalid_state",
      "This quote is not prepared yet (POST /swap/prepare). Nothing was sent.",
    );
  }
  if (addSeconds(quote.preparedUntil, LATE_SECONDS_MAX) <= now) throw lockIsOver();
  return { preparedUntil: quote.preparedUntil, legs: quote.preparedLegs };
};

/** The approval with which a waiting operation starts. */
export interface Proof {
  readonly codeId?: string;
  /** The factor that the person used instead of a one-time code; absent when a code was used. */
  readonly codeMeans?: string;
  readonly decisionId?: string;
  /**
   * True when the operation needs no separate code, because an earlier code covers it. For example,
   * the code of a schedule covers each run.
   */
  readonly isApproved?: boolean;
}

interface Acceptance extends Proof {
  readonly quote: Quote;
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  readonly legs: NewLegs;
  /** The balances of all sources, when the caller has already read them. */
  readonly seen?: readonly Funds[];
  /** The id of the operation that awaited approval and starts now. */
  readonly operationId?: string;
  /**
   * True when the operation brings money to a payout. The operation then does not count against the
   * key's cap, because the payout itself was approved or counted.
   */
  readonly isCovered?: boolean;
  /**
   * True when the wallets have already sent every transaction. The key's cap and the end of the
   * price lock are then not applied, because an error could not undo the transactions, and the
   * service would not follow the money.
   */
  readonly allSent: boolean;
  /**
   * Its function `take` marks the quote as used, and returns false when the quote was used already.
   */
  readonly claim: Claim;
}

/** The approval of the quote, for the audit log. */
const approvalOf = ({
  approvalMeans,
  approvalCodeId: codeId,
  approvedBy,
}: Quote): AuditData => ({
  means: approvalMeans,
  codeId,
  approvedBy,
});

/** How the movement was authorised, for the audit log. */
const meansOf = ({
  quote,
  codeId,
  codeMeans = "code",
  decisionId,
  allSent,
}: Acceptance): AuditData => {
  if (decisionId !== undefined) return { means: "votes", decisionId };
  if (codeId !== undefined) return { means: codeMeans, codeId };
  if (quote.approvedAt !== null) return approvalOf(quote);
  return { means: allSent ? "wallet" : "policy" };
};

/**
 * Evaluates the policies for the acceptance.
 * @throws DomainError `policy_violation`, `otp_required`
 */
const enforcing =
  (check: Check, acceptance: Acceptance): Enforce =>
  async (sql, { id, digest }) => {
    const {
      quote,
      operationId,
      codeId,
      decisionId,
      legs,
      allSent,
      isApproved = false,
    } = acceptance;
    const isDecided = codeId !== undefined || decisionId !== undefined || isApproved;
    const hasCode = isDecided || quote.approvedAt !== null || operationId !== undefined;
    const admission = { hasCode, decisionId, isSent: allSent };
    const passed = await check.evaluate(sql, { type: "operation", id, digest }, admission);
    if (passed === null) throw codeRequired(`The policies ask for a code. ${sentText(legs)}`);
    return passed;
  };

/**
 * The error when the person who executes the quote is not the person who entered the code. The
 * rules may exclude the requester from the vote, and the requester is the person who entered the
 * code. If somebody else executed the quote, the requester would not be recognised.
 */
const otherMaker = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Somebody else gave the code for this, and it needs votes: whoever gave the code has to execute it. Nothing was sent.",
  );

/**
 * Stores a prepared quote as an operation that waits for votes. Returns null when the quote was
 * used in the meantime.
 */
const letPreparedWait = async (
  deps: ExecuteDeps & { readonly authorization: Pick<Authorization, "refuse"> },
  actor: Actor,
  quote: Quote,
  preparedUntil: Date,
) => {
  const { quotes } = deps;
  const now = deps.clock.now();
  if (preparedUntil <= now) throw lockIsOver();
  if (quote.approvedAt !== null && quote.approvedBy !== actorName(actor)) throw otherMaker();
  const { request, kind, createdBy } = quote;
  const wallets = await quotes.walletsOf(actor.projectId, request);
  const required = votesOf(
    await deps.authorization.refuse(routeIntent(actor, { kind, request, wallets, createdBy })),
  );
  if (required === null) throw changedMeanwhile();
  const used = new Error("The quote was used meanwhile.");
  const operation = await letWait(deps, actor, quote, {
    request,
    wallets,
    required,
    claim: async (tx, operationId) => {
      if (
        !(await quotes.claim(sqlOf(tx), {
          projectId: quote.projectId,
          id: quote.id,
          operationId,
          preparedUntil,
          now,
        }))
      )
        throw used;
    },
    consent: quote.approvedAt === null ? { means: "policy" } : approvalOf(quote),
  }).catch((error: unknown) => {
    if (error === used) return null;
    throw error;
  });
  return operation;
};

const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The policies were changed meanwhile. Nothing was sent; execute again.",
  );

const startedRecord = (
  quote: Quote,
  { id, status, subStatus }: Pick<Operation, "id" | "status" | "subStatus">,
) => ({
  operationId: id,
  ...(quote.transferId === null ? {} : { transferId: quote.transferId }),
  status,
  subStatus,
});

const triedAgain = (retryOf: string): DomainError =>
  new DomainError(
    "invalid_state",
    "The operation was tried again already; what failed is sent once more only once. Nothing was sent now.",
    { extra: { retryOf } },
  );

const capReached = (legs: NewLegs): DomainError =>
  codeRequired(`The key's daily cap was reached meanwhile. ${sentText(legs)}`);

/**
 * Extends the caller's claim, which marks the quote as used. The returned claim also counts the
 * amount against the key's cap, and records on a failed operation that this operation retries it.
 */
const claimOf = async (
  authorization: Pick<Authorization, "spending">,
  actor: Actor,
  { quote, operationId, legs, allSent, claim, isCovered = false }: Acceptance,
): Promise<Claim> => {
  // The cap does not apply to an operation that awaited approval, because a code or votes
  // authorised it.
  const spend =
    operationId === undefined && !isCovered ? await authorization.spending(actor, quote) : null;
  const takeRest = async (sql: Sql, by: string, now: Date): Promise<true> => {
    // Payments that wallets have already sent are recorded even above the cap.
    if (spend !== null && !(await spend(sql, now)) && !allSent) throw capReached(legs);
    const { projectId, retryOf: of } = quote;
    if (of !== null && !(await claimRetry(sql, { projectId, of, by, now })))
      throw triedAgain(of);
    return true;
  };
  return claim.by === "sql"
    ? {
        by: "sql",
        take: async (sql, id, now) =>
          (await claim.take(sql, id, now)) && (await takeRest(sql, id, now)),
      }
    : {
        by: "prisma",
        take: async (tx, id, now) =>
          (await claim.take(tx, id, now)) && (await takeRest(sqlOf(tx), id, now)),
      };
};

export const createExecute = (deps: ExecuteDeps, authorization: Authorization) => {
  const { quotes } = deps;

  /**
   * Accepts the operation of a quote, which the workers then drive. Returns null when the quote was
   * used already, or the operation no longer awaits approval.
   */
  const accept = async (actor: Actor, acceptance: Acceptance) => {
    const { quote, request, wallets, legs, operationId } = acceptance;
    const claim = await claimOf(authorization, actor, acceptance);
    return authorization.checking(intentOf(actor, acceptance), (check) =>
      deps.operations.start({
        projectId: quote.projectId,
        ...(operationId === undefined ? {} : { operationId }),
        kind: quote.kind,
        createdBy: actorName(actor),
        origin: { quoteId: quote.id, transferId: quote.transferId, retryOf: quote.retryOf },
        request,
        wallets,
        legs,
        ...(acceptance.seen === undefined ? {} : { seen: acceptance.seen }),
        claim,
        enforce: enforcing(check, acceptance),
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
      }),
    );
  };

  /** The operation that the quote has started, for a repeated request; null when there is none. */
  const startedBefore = async (
    quote: Quote,
  ): Promise<ReturnType<typeof startedRecord> | null> => {
    if (quote.status !== "used" || quote.operationId === null) return null;
    return startedRecord(quote, await deps.operations.get(quote.projectId, quote.operationId));
  };

  /**
   * Accepts the operation once; the workers then drive it. For a quote that was executed already,
   * returns its operation. An operation whose transactions the caller's wallets have all sent is
   * recorded even after the price lock, because an error would not undo the transactions.
   * @throws DomainError `invalid_state` (not prepared), `quote_expired`, `otp_required` (the key
   * reached its cap in the meantime), `insufficient_balance`, `invalid_signature` naming every
   * action that is missing or does not match
   */
  const execute = async (
    actor: Actor,
    subject: Subject,
    signatures: readonly GivenSignature[] = [],
  ) => {
    const quote = await quotes.get(actor, subject);
    authorization.requireScopeOf(actor, quote);
    const { request, route } = quote;
    authorization.checkRecipient(actor, request, subjectField(subject));
    const before = await startedBefore(quote);
    if (before !== null) return before;
    const { preparedUntil, legs } = readPrepared(quote, deps.clock.now());
    const signed = await applySignatures(deps, { legs, routeLegs: route.legs, signatures });
    const isLate = preparedUntil <= deps.clock.now();
    if (isLate && !signed.allSent) throw lockIsOver(signed.legs);
    const wallets = await quotes.walletsOf(actor.projectId, request);
    const acceptOnce = () =>
      accept(actor, {
        quote,
        request,
        wallets,
        legs: signed.legs,
        allSent: signed.allSent,
        claim: {
          by: "sql",
          take: (sql, operationId, now) =>
            quotes.claim(sql, {
              projectId: quote.projectId,
              id: quote.id,
              operationId,
              preparedUntil,
              now: isLate ? null : now,
            }),
        },
      });
    try {
      const operation = await acceptOnce().catch((error: unknown) => {
        if (needsVotes(error) && legs.every(({ by }) => by === "service"))
          return letPreparedWait({ ...deps, authorization }, actor, quote, preparedUntil);
        throw error;
      });
      if (operation !== null) return startedRecord(quote, operation);
      throw refusal(await quotes.get(actor, subject));
    } catch (error) {
      // Another call may have executed the quote in the meantime and caused this error.
      const meanwhile = await startedBefore(await quotes.get(actor, subject));
      if (meanwhile === null) throw error;
      return meanwhile;
    }
  };

  return { accept, execute };
};

export type Execute = ReturnType<typeof createExecute>;
