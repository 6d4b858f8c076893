import type { GivenCode } from "@/lib/contracts/proofs";
import type { Scope } from "@/lib/contracts/contract";
import { requireScope, type Actor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { Tx } from "@/lib/db/client";
import { sqlOf } from "@/lib/db/sql";
import type { JudgedPart } from "@/lib/db/together";
import type { AddressNames } from "@/lib/modules/contacts/service";
import type { CodeChannel, OtpSent, OtpService } from "@/lib/modules/otp/service";
import { routeIntent, type Intent, type PolicyEngine, type PoliciesService } from "@/lib/modules/policies/service";
import type { RouteRequest } from "@/lib/ports/routing";
import { approvalAddresses, approvalLines, type Quote, type QuotesService } from "@/lib/modules/quotes/service";

export interface AuthorizationDeps {
  quotes: Pick<QuotesService, "noteCodeSent" | "approve" | "worthUsd" | "walletsOf">;
  otp: OtpService;
  policies: PoliciesService;
  policyEngine: Pick<PolicyEngine, "refuse" | "checking">;
  registry: { get(chainId: number): { readonly name: string } };
  names: AddressNames;
  clock: Clock;
}

const MAIL_SUBJECTS: Readonly<Record<string, string>> = {
  swap: "Your code to approve a swap",
  transfer: "Your code to approve a transfer",
  swap_and_transfer: "Your code to approve a swap with transfer",
};

/** The scope with which an API key may start each kind of operation. */
const SCOPES: Readonly<Record<string, Scope>> = {
  swap: "swaps:write",
  transfer: "transfers:write",
  swap_and_transfer: "swaps:write",
};
const OTHER_SCOPE: Scope = "operations:write";

const codeRequired = (why: string): DomainError =>
  new DomainError("otp_required", `${why} It needs the one-time code that approves it (POST /swap/request-otp).`, {
    details: [{ path: "otp", message: "is required" }],
  });

/** Decides who may move money: a caller with the right one-time code, or an exempt API key up to its daily cap. */
export const createAuthorization = (deps: AuthorizationDeps) => {
  const { quotes, otp, policies, clock } = deps;

  /**
   * Sends the code that approves this quote; the code is bound to `subjectId`.
   * @throws DomainError `insufficient_scope` for an API key that may not start this operation
   */
  const sendCode = async (
    actor: Actor,
    quote: Quote,
    { subjectId, channel }: { readonly subjectId: string; readonly channel: CodeChannel | undefined },
  ): Promise<OtpSent> => {
    requireScope(actor, SCOPES[quote.kind] ?? OTHER_SCOPE);
    const names = await deps.names.of(actor.projectId, approvalAddresses(quote.request));
    const sent = await otp.request({
      actor,
      subjectId,
      digest: new Uint8Array(quote.digest),
      subject: MAIL_SUBJECTS[quote.kind] ?? "Your code to approve a payment",
      lines: approvalLines(quote.request, quote.minimumBase, {
        chainName: (chainId) => deps.registry.get(chainId).name,
        names,
      }),
      channel,
    });
    await quotes.noteCodeSent(quote, clock.now());
    return sent;
  };

  /**
   * Whether the actor needs no code for this, as far as known before acceptance (the accepting transaction checks the
   * cap again).
   */
  const needsNoCode = async (actor: Actor, request: RouteRequest): Promise<boolean> =>
    !policies.needsCode(actor) && (await policies.mayAfford(actor, await quotes.worthUsd(request), clock.now()));

  /**
   * Lets a quote be prepared: the code is right, or the key needs none for this amount.
   * @throws DomainError `otp_required`, `otp_invalid`, `otp_expired`, `otp_attempts_exceeded`
   */
  const admit = async (actor: Actor, quote: Quote, code: GivenCode | undefined): Promise<void> => {
    const evaluation = await deps.policyEngine.refuse(await intentOf(actor, quote), { isFirst: true });
    if (quote.approvedAt !== null) return;
    if (code !== undefined) {
      const { otpId, means } = await otp.consume({ actor, subjectId: quote.id, digest: quote.digest, code });
      await quotes.approve(quote, { actor, codeId: otpId, means, now: clock.now() });
      return;
    }
    if (evaluation.code === "required") throw codeRequired("The policies ask for a code. Nothing was sent.");
    if (await needsNoCode(actor, quote.request)) return;
    throw codeRequired(policies.needsCode(actor) ? "Nothing was sent." : "This is above the key's daily cap.");
  };

  /**
   * The check for the accepting transaction: null when a code approved the quote, otherwise that the key may still
   * spend the amount today.
   */
  const spending = async (actor: Actor, quote: Quote): Promise<((tx: Tx, now: Date) => Promise<boolean>) | null> => {
    if (quote.approvedAt !== null) return null;
    const usd = await quotes.worthUsd(quote.request);
    return (tx, now) => policies.spend(sqlOf(tx), actor, usd, now);
  };

  /** As `spending`, as parts of a statement, whose judgement throws `refusal`. */
  const spendingParts = async (
    actor: Actor,
    quote: Quote,
  ): Promise<(now: Date, refusal: () => Error) => readonly JudgedPart[]> => {
    if (quote.approvedAt !== null) return () => [];
    const usd = await quotes.worthUsd(quote.request);
    return (now, refusal) =>
      policies.spendingParts(actor, usd, now, () => {
        throw refusal();
      });
  };

  /** The intent that the policies decide on when the quote is carried out. */
  const intentOf = async (actor: Actor, quote: Quote): Promise<Intent> => {
    const { kind, request, createdBy, projectId } = quote;
    const wallets = await quotes.walletsOf(projectId, request);
    return routeIntent(actor, { kind, request, createdBy, wallets });
  };

  /** @throws DomainError `recipient_not_allowed` */
  const checkRecipient = (actor: Actor, request: RouteRequest, path: string): void =>
    policies.checkRecipient(actor, request.destination.recipient, path);

  return {
    sendCode,
    needsNoCode,
    admit,
    spending,
    spendingParts,
    refuse: deps.policyEngine.refuse,
    checking: deps.policyEngine.checking,
    checkRecipient,
    checkAddress: policies.checkRecipient,
    consume: otp.consume,
  };
};

export { codeRequired };
export type Authorization = ReturnType<typeof createAuthorization>;
