import type { GivenCode } from "@/lib/contracts/proofs";
import { type Actor, requireScope } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { movementKind } from "@/lib/core/movement-kinds";
import type { Sql } from "@/lib/platform/db/sql";
import type { AddressNames } from "@/lib/books/contacts/service";
import type { Approvable } from "@/lib/money/authorize/service";
import type { OtpService } from "@/lib/trust/proofs/service";
import {
  routeIntent,
  type Evaluation,
  type Intent,
  type PolicyEngine,
  type PoliciesService,
} from "@/lib/trust/policies/service";
import type { RouteRequest } from "@/lib/core/route-request";
import {
  approvalAddresses,
  approvalLines,
  type Quote,
  type QuotesService,
} from "@/lib/money/quotes/service";

export interface AuthorizationDeps {
  quotes: Pick<QuotesService, "noteCodeSent" | "approve" | "worthUsd" | "walletsOf">;
  otp: OtpService;
  policies: PoliciesService;
  policyEngine: Pick<PolicyEngine, "refuse" | "checking">;
  registry: { get(chainId: number): { readonly name: string } };
  names: AddressNames;
  clock: Clock;
}

const codeRequired = (why: string): DomainError =>
  new DomainError(
    "otp_required",
    `${why} It needs the one-time code that approves it (POST /swap/request-otp).`,
    {
      details: [{ path: "otp", message: "is required" }],
    },
  );

/**
 * Decides who may move money: a caller with the correct one-time code, or an exempt API key up to
 * its daily cap.
 */
export const createAuthorization = (deps: AuthorizationDeps) => {
  const { quotes, otp, policies, clock } = deps;

  /**
   * Throws an error when the caller may not start this kind of operation. Every step of a movement
   * (code, prepare, execute) calls it.
   * @throws DomainError `insufficient_scope` for an API key
   */
  const requireScopeOf = (actor: Actor, { kind }: Pick<Quote, "kind">): void =>
    requireScope(actor, movementKind(kind)?.scope ?? "operations:write");

  /**
   * Returns the part of a quote that a one-time code approves, with the text of the message that
   * contains the code. The code is bound to `id`: the id of the quote, or of the operation that
   * awaits approval.
   * @throws DomainError `insufficient_scope` for an API key that may not start this operation
   */
  const approvableOf = (actor: Actor, quote: Quote, id: string): Approvable => {
    requireScopeOf(actor, quote);
    return {
      id,
      digest: new Uint8Array(quote.digest),
      title: `Your code to approve a ${movementKind(quote.kind)?.codeFor ?? "payment"}`,
      lines: async () =>
        approvalLines(quote.request, quote.minimumBase, {
          chainName: (chainId) => deps.registry.get(chainId).name,
          names: await deps.names.of(actor.projectId, approvalAddresses(quote.request)),
        }),
      noteSent: () => quotes.noteCodeSent(quote, clock.now()),
    };
  };

  /**
   * Whether the actor needs no code: the actor's policy requires none, and its daily cap still
   * covers the request. The answer is preliminary, because the cap is checked again in the
   * transaction that accepts the operation.
   */
  const needsNoCode = async (actor: Actor, request: RouteRequest): Promise<boolean> =>
    !policies.needsCode(actor) &&
    (await policies.mayAfford(actor, await quotes.worthUsd(request), clock.now()));

  /**
   * Allows a quote to be prepared when it was approved, the code is correct, or the API key needs
   * no code for this amount. A correct code is consumed, and the quote is stored as approved.
   * @returns the policies' evaluation of the quote
   * @throws DomainError `otp_required`, `otp_invalid`, `otp_expired`, `otp_attempts_exceeded`
   */
  const admit = async (
    actor: Actor,
    quote: Quote,
    code: GivenCode | undefined,
  ): Promise<Evaluation> => {
    const evaluation = await deps.policyEngine.refuse(await intentOf(actor, quote), {
      isFirst: true,
    });
    if (quote.approvedAt !== null) return evaluation;
    if (code !== undefined) {
      const { otpId, means } = await otp.consume({
        actor,
        subjectId: quote.id,
        digest: quote.digest,
        code,
      });
      await quotes.approve(quote, { actor, codeId: otpId, means, now: clock.now() });
      return evaluation;
    }
    if (evaluation.code === "required")
      throw codeRequired("The policies ask for a code. Nothing was sent.");
    if (await needsNoCode(actor, quote.request)) return evaluation;
    throw codeRequired(
      policies.needsCode(actor) ? "Nothing was sent." : "This is above the key's daily cap.",
    );
  };

  /**
   * Returns a function for the accepting transaction. It counts the amount against the key's daily
   * cap, and returns false when the cap does not cover the amount. Null when a code approved the
   * quote, because no cap applies then.
   */
  const spending = async (
    actor: Actor,
    quote: Quote,
  ): Promise<((sql: Sql, now: Date) => Promise<boolean>) | null> => {
    if (quote.approvedAt !== null) return null;
    const usd = await quotes.worthUsd(quote.request);
    return (sql, now) => policies.spend(sql, actor, usd, now);
  };

  /** The intent that the policies evaluate when the quote is executed. */
  const intentOf = async (actor: Actor, quote: Quote): Promise<Intent> => {
    const { kind, request, createdBy, projectId } = quote;
    const wallets = await quotes.walletsOf(projectId, request);
    return routeIntent(actor, { kind, request, createdBy, wallets });
  };

  /**
   * Checks that the actor may pay the recipient of a request.
   * @throws DomainError `recipient_not_allowed`
   */
  const checkRecipient = (actor: Actor, request: RouteRequest, path: string): void =>
    policies.checkRecipient(actor, request.destination.recipient, path);

  return {
    requireScopeOf,
    approvableOf,
    needsNoCode,
    admit,
    spending,
    refuse: deps.policyEngine.refuse,
    checking: deps.policyEngine.checking,
    checkRecipient,
    checkAddress: policies.checkRecipient,
  };
};

export { codeRequired };
export type Authorization = ReturnType<typeof createAuthorization>;
