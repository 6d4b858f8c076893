import { actorName, type Actor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { Tx } from "@/lib/db/client";
import type { JudgedPart, StatementPart } from "@/lib/db/together";
import { doneBy, type AuditData } from "@/lib/modules/audit/service";
import type { Funds } from "@/lib/modules/holds/service";
import type { Requirement } from "@/lib/modules/decisions/service";
import {
  retryPart,
  UsedMeanwhileError,
  type Enforce,
  type Operation,
  type OperationsService,
} from "@/lib/modules/operations/service";
import { needsVotes, routeIntent, votesOf, type Check } from "@/lib/modules/policies/service";
import type { RouteRequest } from "@/lib/ports/routing";
import {
  endOf,
  type PreparedLeg,
  type Quote,
  type QuotesService,
  type SourceWallet,
  type Subject,
} from "@/lib/modules/quotes/service";
import { intentOf } from "./acceptance-intent";
import { letWait, votesFor, type VotesDeps } from "./ask-votes";
import { codeRequired, type Authorization } from "./authorize";
import { subjectField } from "./prepare";
import { applySignatures, type GivenSignature, type SignatureDeps } from "./signatures";

export interface ExecuteDeps extends SignatureDeps, Pick<VotesDeps, "decisions" | "names"> {
  quotes: QuotesService;
  operations: OperationsService;
  clock: Clock;
}

type NewLegs = Parameters<OperationsService["start"]>[0]["legs"];
type Claim = (tx: Tx, operationId: string, now: Date) => Promise<boolean>;

/**
 * For this long after the price lock, transactions that wallets say they sent are accepted although no node shows them
 * yet.
 */
const LATE_SECONDS_MAX = 3600;

/** The error for a quote that could not be claimed: since it was read it was used, cancelled or prepared again. */
const refusal = (quote: Quote): DomainError =>
  endOf(quote) ??
  new DomainError("invalid_state", "This quote was prepared again in the meantime. Nothing was sent; execute again.");

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

/** By what an operation was approved that waited for it. */
export interface Proof {
  /** Id of the one-time code. */
  readonly codeId?: string;
  /** The factor that stood for the code. */
  readonly codeMeans?: string;
  /** Id of the request on which people voted. */
  readonly decisionId?: string;
  /** Whether a code approved it earlier, as that of a schedule approves each of its runs. */
  readonly isApproved?: boolean;
}

export interface Acceptance extends Proof {
  readonly quote: Quote;
  readonly request: RouteRequest;
  readonly wallets: readonly SourceWallet[];
  readonly legs: NewLegs;
  /** The balances of all sources that the caller has read. */
  readonly seen?: readonly Funds[];
  /** The operation that awaited approval, when it is started now. */
  readonly operationId?: string;
  /** True when the operation is part of another one that was approved or counts against the key's cap itself. */
  readonly isCovered?: boolean;
  /**
   * True when wallets have already sent all transactions by themselves: a refusal now would only lose track of the
   * money.
   */
  readonly allSent: boolean;
  /** Marks the quote as used; as a part of a statement, which returns no row where it was used already, for a new operation. */
  readonly claim: Claim | { readonly part: (operationId: string, now: Date) => StatementPart };
}

/** By which factor a person approved the quote before, and who it was. */
const approvalOf = ({ approvalMeans, approvalCodeId: codeId, approvedBy }: Quote): AuditData => ({
  means: approvalMeans ?? "code",
  codeId,
  approvedBy,
});

/** How the movement was authorised, for the audit log. */
const meansOf = ({ quote, codeId, codeMeans = "code", decisionId, allSent }: Acceptance): AuditData => {
  if (decisionId !== undefined) return { means: "votes", decisionId };
  if (codeId !== undefined) return { means: codeMeans, codeId };
  if (quote.approvedAt !== null) return approvalOf(quote);
  return { means: allSent ? "wallet" : "policy" };
};

/** Evaluates the policies for the acceptance. @throws DomainError `policy_violation`, `otp_required` */
const enforcing =
  (check: Check, acceptance: Acceptance): Enforce =>
  async (sql, { id, digest }) => {
    const { quote, operationId, codeId, decisionId, legs, allSent, isApproved = false } = acceptance;
    const isDecided = codeId !== undefined || decisionId !== undefined || isApproved;
    const hasCode = isDecided || quote.approvedAt !== null || operationId !== undefined;
    const admission = { hasCode, decisionId, isSent: allSent };
    const passed = await check.evaluate(sql, { type: "operation", id, digest }, admission);
    if (passed === null) throw codeRequired(`The policies ask for a code. ${sentText(legs)}`);
    return passed;
  };

/** The person who gave the code is the maker, whom the rules may exclude from the vote; another caller would hide the maker. */
const otherMaker = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Somebody else gave the code for this, and it needs votes: whoever gave the code has to execute it. Nothing was sent.",
  );

/** Takes a prepared quote down as an operation that waits for the votes that the project's setting and its policies demand. */
const letPreparedWait = async (
  deps: ExecuteDeps & { readonly authorization: Pick<Authorization, "refuse"> },
  actor: Actor,
  quote: Quote,
  { subject, preparedUntil, setting }: { subject: Subject; preparedUntil: Date; setting: Requirement | null },
) => {
  const { quotes } = deps;
  const now = deps.clock.now();
  if (preparedUntil <= now) throw lockIsOver();
  if (quote.approvedAt !== null && quote.approvedBy !== actorName(actor)) throw otherMaker();
  const { request, kind, createdBy } = quote;
  const wallets = await quotes.walletsOf(actor.projectId, request);
  const { approval } = await deps.authorization.refuse(routeIntent(actor, { kind, request, wallets, createdBy }));
  const required = votesOf(setting, approval);
  if (required === null) throw changedMeanwhile();
  const used = new Error("The quote was used meanwhile.");
  const operation = await letWait(deps, actor, quote, {
    request,
    wallets,
    required,
    claim: async (tx, operationId) => {
      if (!(await quotes.claim(tx, { projectId: quote.projectId, id: quote.id, operationId, preparedUntil, now })))
        throw used;
    },
    consent: quote.approvedAt === null ? { means: "policy" } : approvalOf(quote),
  }).catch(async (error: unknown) => {
    if (error === used) throw refusal(await quotes.get(actor, subject));
    throw error;
  });
  return startedRecord(quote, operation);
};

const changedMeanwhile = (): DomainError =>
  new DomainError("invalid_state", "The policies were changed meanwhile. Nothing was sent; execute again.");

const startedRecord = (quote: Quote, { id, status, subStatus }: Pick<Operation, "id" | "status" | "subStatus">) => ({
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

type ClaimsDeps = Pick<ExecuteDeps, "operations"> & {
  readonly authorization: Pick<Authorization, "spending" | "spendingParts">;
};

const judgedBy = (part: StatementPart, refusal: () => Error): JudgedPart => ({
  ...part,
  judge: (rows) => {
    if (rows.length === 0) throw refusal();
  },
});

/** The policy's cap and the single retry are checked in the transaction that accepts the operation. */
const claimsOf = async (
  deps: ClaimsDeps,
  actor: Actor,
  acceptance: Acceptance,
): Promise<Parameters<OperationsService["start"]>[0]["claim"]> => {
  const { quote, operationId, legs, allSent, claim, isCovered = false } = acceptance;
  if (typeof claim !== "function") {
    const spend = await deps.authorization.spendingParts(actor, quote);
    const { retryOf } = quote;
    const parts = (id: string, now: Date): JudgedPart[] => [
      judgedBy(claim.part(id, now), () => new UsedMeanwhileError()),
      ...spend(now, () => capReached(legs)),
      ...(retryOf === null
        ? []
        : [judgedBy(retryPart({ projectId: quote.projectId, of: retryOf, by: id, now }), () => triedAgain(retryOf))]),
    ];
    return { parts };
  }
  // An operation that awaited approval is authorised by its code.
  const spend = operationId === undefined && !isCovered ? await deps.authorization.spending(actor, quote) : null;
  return async (tx, id, now) => {
    if (!(await claim(tx, id, now))) return false;
    if (spend !== null && !(await spend(tx, now)) && !allSent) throw capReached(legs);
    const retryOf = quote.retryOf;
    if (
      retryOf !== null &&
      !(await deps.operations.claimRetry(tx, { projectId: quote.projectId, of: retryOf, by: id, now }))
    )
      throw triedAgain(retryOf);
    return true;
  };
};

/** The claim of a prepared quote. Payments that wallets have sent are recorded above the key's cap too, which parts of a statement would refuse. */
const claimOfPrepared = (
  quotes: Pick<QuotesService, "claim" | "claimPart">,
  quote: { readonly projectId: string; readonly id: string; readonly preparedUntil: Date },
  { isLate, allSent }: { readonly isLate: boolean; readonly allSent: boolean },
): Acceptance["claim"] =>
  allSent
    ? (tx, operationId, now) => quotes.claim(tx, { ...quote, operationId, now: isLate ? null : now })
    : { part: (operationId, now) => quotes.claimPart({ ...quote, operationId, now }) };

export const createExecute = (deps: ExecuteDeps, authorization: Authorization) => {
  const { quotes } = deps;

  /**
   * Accepts the operation of a quote; the workers then carry it on. Null when the quote was used already, or the
   * operation no longer awaits approval.
   */
  const accept = async (actor: Actor, acceptance: Acceptance) => {
    const { quote, request, wallets, legs, operationId } = acceptance;
    const claim = await claimsOf({ ...deps, authorization }, actor, acceptance);
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
        isFree: check.isFree,
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

  /**
   * Accepts the operation, once, and hands it to the workers. An operation whose transactions were all sent by the
   * caller's own wallets is recorded even after the price lock, because a refusal would not undo them.
   * @throws DomainError `invalid_state` (not prepared), `quote_expired`, `quote_already_used`, `otp_required` (the
   * key's cap was reached meanwhile), `insufficient_balance`, `invalid_signature` naming every action that is missing
   * or does not match
   */
  const execute = async (actor: Actor, subject: Subject, signatures: readonly GivenSignature[] = []) => {
    const quote = await quotes.get(actor, subject);
    const { preparedUntil, legs } = readPrepared(quote, deps.clock.now());
    const { request, route } = quote;
    authorization.checkRecipient(actor, request, subjectField(subject));
    const setting = await votesFor(deps, quote, legs);
    const wait = () => letPreparedWait({ ...deps, authorization }, actor, quote, { subject, preparedUntil, setting });
    if (setting !== null) return wait();
    const signed = await applySignatures(deps, { legs, routeLegs: route.legs, signatures });
    const isLate = preparedUntil <= deps.clock.now();
    if (isLate && !signed.allSent) throw lockIsOver(signed.legs);
    try {
      const operation = await accept(actor, {
        quote,
        request,
        wallets: await quotes.walletsOf(actor.projectId, request),
        legs: signed.legs,
        allSent: signed.allSent,
        claim: claimOfPrepared(
          quotes,
          { projectId: quote.projectId, id: quote.id, preparedUntil },
          { isLate, allSent: signed.allSent },
        ),
      });
      if (operation === null) throw refusal(await quotes.get(actor, subject));
      return startedRecord(quote, operation);
    } catch (error) {
      if (needsVotes(error) && legs.every(({ by }) => by === "service")) return wait();
      throw error;
    }
  };

  return { accept, execute };
};

export type Execute = ReturnType<typeof createExecute>;
