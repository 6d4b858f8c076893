/** Payouts of both kinds. `accounts/` and `wallets/` create them; reading, approval, cancelling and retry are here. */
import type { GivenCode } from "@/lib/contracts/proofs";
import { bindDeps } from "@/lib/core/bind-deps";
import { requireScope, type Actor, type UserActor } from "@/lib/core/actor";
import type { Assets } from "@/lib/chains/assets";
import type { ChainRegistry } from "@/lib/chains/registry";
import { DomainError, notFound } from "@/lib/core/errors";
import { doneBy } from "@/lib/modules/audit/service";
import type { CodeChannel, OtpSent, OtpService } from "@/lib/modules/otp/service";
import type { PoliciesService } from "@/lib/modules/policies/service";
import type { PayoutItemRow } from "./accounts/rows";
export { openPayoutTotals } from "./accounts/repository";
export { inTransitOf } from "./wallets/account-side-repository";
import { createAccountPayoutsService, type AccountPayoutsDeps, type NewAccountsPayout } from "./accounts/service";
import { refuseCode, type VotesPort } from "./ask-votes";
import { createPayoutSubject } from "./decided";
import { hasFailed, mayOf, requireReadable } from "./permissions";
import {
  createPayoutReading,
  type AccountsPayoutView,
  type PayoutReadingDeps,
  type PayoutView,
  type WalletsPayoutView,
} from "./read-payouts";
import type { PayoutsRepository } from "./repository";
import type { DoubtDecision } from "./wallets/batches/decide-doubt";
import { createWalletPayoutsService, type NewWalletsPayout, type WalletPayoutsDeps } from "./wallets/service";

export type { PayoutActivity, PayoutMovement } from "./activity";
export { isInDoubt, mayOf } from "./permissions";
export type { PayoutView } from "./read-payouts";

const LINES_MAX = 5;

export interface PayoutsDeps {
  readonly repository: PayoutsRepository;
  readonly accounts: Omit<AccountPayoutsDeps, "payouts">;
  readonly wallets: Omit<WalletPayoutsDeps, "payouts">;
  readonly assets: Assets;
  readonly registry: ChainRegistry;
  readonly policies: PoliciesService;
  readonly decisions: VotesPort;
  readonly otp: OtpService;
  readonly worths: PayoutReadingDeps["worths"];
  readonly clock: AccountPayoutsDeps["clock"];
}

/** Payouts of both kinds: between global accounts, and from the treasury to wallets. */
export const createPayoutsService = (deps: PayoutsDeps) => {
  const { repository } = deps;
  const accounts = createAccountPayoutsService({ ...deps.accounts, payouts: repository });
  const wallets = createWalletPayoutsService({ ...deps.wallets, payouts: repository });
  const reading = createPayoutReading({ ...deps, accounts, wallets, prices: deps.wallets.prices });
  return payoutFunctions({ ...deps, accounts, wallets, reading });
};

interface PayoutParts extends Omit<PayoutsDeps, "accounts" | "wallets"> {
  readonly accounts: ReturnType<typeof createAccountPayoutsService>;
  readonly wallets: ReturnType<typeof createWalletPayoutsService>;
  readonly reading: ReturnType<typeof createPayoutReading>;
}

const createBetweenAccounts = async (
  parts: PayoutParts,
  actor: Actor,
  input: NewAccountsPayout,
): Promise<AccountsPayoutView> => parts.reading.newAccountsView(await parts.accounts.create(actor, input));

const createToWallets = async (parts: PayoutParts, actor: Actor, input: NewWalletsPayout): Promise<WalletsPayoutView> =>
  parts.reading.newWalletsView(await parts.wallets.create(actor, input));

const awaiting = async (parts: PayoutParts, projectId: string, id: string): Promise<PayoutView> => {
  const view = await parts.reading.get(projectId, id);
  requireReadable(view);
  if (!mayOf(view).approve)
    throw new DomainError("invalid_state", "This payout does not await approval. See its record for how it stands.");
  return view;
};

const linesOf = async (parts: PayoutParts, view: PayoutView): Promise<readonly string[]> => {
  if (view.kind === "wallets") return parts.wallets.approvalLines(view);
  const first = await parts.accounts.items({
    projectId: view.payout.projectId,
    payoutId: view.payout.id,
    after: -1,
    limit: LINES_MAX,
  });
  return parts.accounts.approvalLines(view.payout, first);
};

const digestOf = (parts: PayoutParts, view: PayoutView): Uint8Array<ArrayBuffer> =>
  view.kind === "wallets" ? parts.wallets.codeDigest(view) : new Uint8Array(view.payout.digest);

/** Mails a one-time code for the approval. @throws DomainError `insufficient_scope`, `not_found`, `invalid_state`, `otp_channel_missing`, `rate_limited` */
const requestCode = async (parts: PayoutParts, actor: Actor, id: string, channel?: CodeChannel): Promise<OtpSent> => {
  requireScope(actor, "payouts:write");
  const view = await awaiting(parts, actor.projectId, id);
  await refuseCode(parts.decisions, view.payout);
  return parts.otp.request({
    actor,
    subjectId: view.payout.id,
    digest: digestOf(parts, view),
    subject: "Your code to approve a payout",
    lines: await linesOf(parts, view),
    channel,
  });
};

/**
 * Approves a payout with a one-time code, so that the workers run it. The money of a payout to wallets is held from now on.
 * @throws DomainError `not_found`, `invalid_state`, `otp_*`, `insufficient_balance`, `insufficient_reserves`,
 * `sponsor_budget_exceeded`
 */
const approve = async (parts: PayoutParts, actor: UserActor, id: string, code: GivenCode): Promise<PayoutView> => {
  const view = await awaiting(parts, actor.projectId, id);
  await refuseCode(parts.decisions, view.payout);
  const { payout } = view;
  // Checked before the code is consumed, so that the same code still works after the treasury was funded.
  if (view.kind === "wallets") await parts.wallets.requireFunds(view);
  const { otpId: codeId, means } = await parts.otp.consume({
    actor,
    subjectId: payout.id,
    digest: digestOf(parts, view),
    code,
  });
  const data = { means, codeId };
  const audit = { ...doneBy(actor), action: "payout.approved", subject: payout.id, data, at: parts.clock.now() };
  const approved =
    view.kind === "wallets"
      ? await parts.wallets.approve(actor, view, { codeId, audit })
      : await parts.accounts.approve(actor, view.payout, { audit });
  if (!approved)
    throw new DomainError("invalid_state", "This payout was cancelled, approved or ran out of time in the meantime.");
  return parts.reading.get(actor.projectId, id);
};

/**
 * Cancels the parts of a payout that are not under way yet.
 * @throws DomainError `not_found`; `invalid_state` when no part can be stopped; `signing_off` for a payout to wallets whose money is held
 */
const cancel = async (parts: PayoutParts, actor: Actor, id: string): Promise<PayoutView> => {
  const view = await parts.reading.get(actor.projectId, id);
  requireReadable(view);
  const { payout } = view;
  const { projectId, id: payoutId } = payout;
  const audit = { ...doneBy(actor), action: "payout.cancelled", subject: payoutId, at: parts.clock.now() };
  const cancelled =
    view.kind === "wallets"
      ? await parts.wallets.cancel(view, audit)
      : await parts.accounts.cancel(payout, audit, audit.at);
  if (!cancelled)
    throw new DomainError(
      "invalid_state",
      "This payout has begun or ended and can no longer be cancelled. Nothing was changed; read it to see what was paid.",
    );
  return parts.reading.get(projectId, payoutId);
};

const accountRows = async function* (parts: PayoutParts, view: AccountsPayoutView): AsyncGenerator<PayoutItemRow> {
  for await (const page of parts.reading.allItems(view)) if (page.kind === "global_accounts") yield* page.rows;
};

/**
 * Creates a payout of the failed rows, at most once for each payout. It needs its own approval.
 * @throws DomainError `not_found`, `invalid_state`, and the errors of creating a payout
 */
const retry = async (parts: PayoutParts, actor: Actor, id: string): Promise<PayoutView> => {
  const view = await parts.reading.get(actor.projectId, id);
  requireReadable(view);
  if (view.kind === "global_accounts") parts.policies.checkAccountRecipients(actor, "transfers");
  if (!hasFailed(view))
    throw new DomainError(
      "invalid_state",
      "No row of this payout has failed for good, so there is nothing to try again.",
    );
  if (view.kind === "global_accounts")
    return parts.reading.newAccountsView(await parts.accounts.retry(actor, view.payout, accountRows(parts, view)));
  return parts.reading.newWalletsView(await parts.wallets.retry(actor, view));
};

/**
 * Checks that the caller may still pay the rows of a retry, before the stored answer of an earlier call is repeated.
 * @throws DomainError `not_found`, `recipient_not_allowed`
 */
const checkRetry = async (parts: PayoutParts, actor: Actor, id: string): Promise<void> => {
  const view = await parts.reading.get(actor.projectId, id);
  if (view.kind === "wallets") return parts.wallets.checkRetry(actor, view);
  parts.policies.checkAccountRecipients(actor, "transfers");
};

/**
 * Settles a batch of a payout to wallets whose payments another operation may have made.
 * @throws DomainError `not_found`, and what `decideDoubt` of payouts to wallets throws
 */
const decideDoubt = async (
  parts: PayoutParts,
  actor: UserActor,
  { id, batch }: { readonly id: string; readonly batch: number },
  decision: DoubtDecision,
): Promise<PayoutView> => {
  const view = await parts.reading.get(actor.projectId, id);
  if (view.kind !== "wallets") throw notFound();
  requireReadable(view);
  await parts.wallets.decideDoubt(actor, view, batch, decision);
  return parts.reading.get(actor.projectId, id);
};

const payoutFunctions = (parts: PayoutParts) => ({
  createBetweenAccounts: bindDeps(parts, createBetweenAccounts),
  createToWallets: bindDeps(parts, createToWallets),
  get: parts.reading.get,
  list: parts.reading.list,
  items: parts.reading.items,
  allItems: parts.reading.allItems,
  known: parts.reading.known,
  checkRecipients: parts.wallets.checkRecipients,
  createScheduled: parts.wallets.createScheduled,
  checkRetry: bindDeps(parts, checkRetry),
  requestCode: bindDeps(parts, requestCode),
  approve: bindDeps(parts, approve),
  cancel: bindDeps(parts, cancel),
  retry: bindDeps(parts, retry),
  decideDoubt: bindDeps(parts, decideDoubt),
  expireDue: parts.repository.expireDue,
  /** For requests on which people vote. */
  subject: createPayoutSubject(parts),
});

export type PayoutsService = ReturnType<typeof createPayoutsService>;
