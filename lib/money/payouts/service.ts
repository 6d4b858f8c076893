/**
 * The service of payouts of both kinds: between global accounts, and from the treasury to wallets.
 */
import { bindDeps } from "@/lib/core/bind-deps";
import type { Actor, UserActor } from "@/lib/core/actor";
import { DomainError, notFound } from "@/lib/core/errors";
import { doneBy } from "@/lib/news/audit/service";
import type { AwaitingApproval, CodeProof } from "@/lib/money/authorize/service";
import { approvalLines, approvedDigest, ROWS_SHOWN, type ShownRow } from "./approval-text";
import { PAYOUT_SUBJECT } from "./ask-votes";
import type { PayoutsContext } from "./context";
import { createPayoutSubject } from "./decided";
import {
  createOnce,
  createPayout,
  readInput,
  requireFunds,
  startApproved,
  validatePayout,
  type InputOf,
  type PayoutCall,
} from "./intake";
import { cancelPayout } from "./intake-repository";
import { refuseFaults } from "./limits";
import type { Payout } from "./payout";
import type { PayoutView } from "./payout-view";
import { hasFailed, mayOf } from "./permissions";
import { createPayoutReading, readRows } from "./read-payouts";
import { retryInput } from "./retry";
import { decideDoubt as settleDoubt, type DoubtDecision } from "./wallets/batches/decide-doubt";
import { requireUnpaid } from "./wallets/cancel";
import { strangersAmong } from "./wallets/check-rows";
import type { RequestInput } from "./wallets/request";

export type { PayoutActivity, PayoutMovement } from "./activity";
export { isInDoubt, mayOf } from "./permissions";
export type { PayoutView } from "./payout-view";
export { openPayoutTotals } from "./repository";
export { schedulesOfMembers } from "./schedules/repository";
export { inTransitOf } from "./wallets/account-side-repository";

interface Payouts extends PayoutsContext {
  readonly reading: ReturnType<typeof createPayoutReading>;
}

type Kind = Payout["kind"];
type ViewOf<K extends Kind> = Extract<PayoutView, { readonly kind: K }>;
/** The request for a payout of kind `K`. TypeScript infers `K` from the field `kind`. */
type CallOf<K extends Kind> = { readonly kind: K } & InputOf[K] & PayoutCall;

/**
 * Checks whether the caller may pay accounts. An API key with a list of recipients may pay only the
 * addresses on its list, and no account.
 * @throws DomainError `recipient_not_allowed`
 */
const checkAccounts = ({ policies }: Payouts, actor: Actor, kind: Kind): void => {
  if (kind === "global_accounts") policies.checkAccountRecipients(actor, "transfers");
};

/**
 * Checks every row, stores the payout and queues it for the workers. The payout awaits approval
 * when the caller's policy requires a code, or when the project's policies demand votes. With
 * `validateOnly` nothing is stored, and the id of the result is empty.
 * @throws DomainError `invalid_request` or a more specific code (every invalid row by its index),
 * `not_found`, `recipient_not_allowed`, `policy_violation`, `screening_refused`,
 * `duplicate_payout`, `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`,
 * `batch_too_large`, `unsupported_chain`, `chain_unavailable`, `idempotency_mismatch`
 */
const create = async <K extends Kind>(
  payouts: Payouts,
  actor: Actor,
  input: CallOf<K>,
): Promise<ViewOf<K>> => {
  checkAccounts(payouts, actor, input.kind);
  const view = input.validateOnly
    ? payouts.reading.unstored(await validatePayout(payouts, actor, input, input))
    : payouts.reading.view(await createOnce(payouts, actor, input, input));
  return (await view) as ViewOf<K>;
};

const awaiting = async (
  payouts: Payouts,
  projectId: string,
  id: string,
): Promise<PayoutView> => {
  const view = await payouts.reading.get(projectId, id);
  if (!mayOf(view).approve)
    throw new DomainError(
      "invalid_state",
      "This payout does not await approval. See its record for how it stands.",
    );
  return view;
};

const firstRows = async (payouts: Payouts, view: PayoutView): Promise<ShownRow[]> => {
  const found = await readRows(payouts, view, { after: -1, limit: ROWS_SHOWN });
  return found.kind === "wallets"
    ? [...found.rows]
    : found.rows.map(({ recipientAccountId, amountBase }) => ({
        recipient: recipientAccountId,
        amountBase,
        token: null,
      }));
};

/**
 * Describes a payout that awaits approval, for the one-time code that approves it. The function
 * `approve` of the result queues the payout for the workers, and holds the money of a payout to
 * wallets.
 * @throws DomainError `not_found`, `invalid_state`; `approve` also `insufficient_balance`,
 * `insufficient_reserves`, `sponsor_budget_exceeded`
 */
const awaitingApproval = async (
  payouts: Payouts,
  actor: UserActor,
  id: string,
): Promise<AwaitingApproval> => {
  const view = await awaiting(payouts, actor.projectId, id);
  const approve = async ({ codeId, means }: CodeProof): Promise<void> => {
    const audit = {
      ...doneBy(actor),
      action: "payout.approved",
      subject: view.payout.id,
      data: { means, codeId },
      at: payouts.clock.now(),
    };
    if (!(await startApproved(payouts, actor, view, { codeId, audit })))
      throw new DomainError(
        "invalid_state",
        "This payout was cancelled, approved or ran out of time in the meantime.",
      );
  };
  return {
    id: view.payout.id,
    digest: approvedDigest(view),
    title: "Your code to approve a payout",
    lines: async () => approvalLines(view, payouts.registry, await firstRows(payouts, view)),
    votedAs: PAYOUT_SUBJECT,
    // The funds are checked before the code is consumed, so that the code still works after
    // somebody has funded the treasury.
    check: async () => {
      if (view.kind === "wallets") await requireFunds(payouts, view);
    },
    approve,
  };
};

/**
 * Cancels a payout. When it has begun, cancels only the batches that are not signed yet.
 * @throws DomainError `not_found`; `invalid_state` when nothing can be cancelled any more;
 * `signing_off` for a payout to wallets whose money is held
 */
const cancel = async (payouts: Payouts, actor: Actor, id: string): Promise<PayoutView> => {
  const view = await payouts.reading.get(actor.projectId, id);
  if (view.kind === "wallets") await requireUnpaid(payouts, view);
  const audit = {
    ...doneBy(actor),
    action: "payout.cancelled",
    subject: view.payout.id,
    at: payouts.clock.now(),
  };
  const { database, sponsorship } = payouts;
  const cancelled = await cancelPayout(database, sponsorship, view.payout, audit);
  const found = await payouts.reading.get(actor.projectId, id);
  // A payout that is already cancelled is a success too: the caller may repeat a request whose
  // answer was lost.
  if (cancelled || found.payout.status === "cancelled") return found;
  throw new DomainError(
    "invalid_state",
    "This payout has begun or ended and can no longer be cancelled. Nothing was changed; read it to see what was paid.",
  );
};

/**
 * Creates a payout that pays the failed rows of a payout again. A payout has at most one retry that
 * was not cancelled and has not expired. The retry needs a separate approval.
 * @throws DomainError `not_found`, `invalid_state`, and the errors of creating a payout
 */
const retry = async (payouts: Payouts, actor: Actor, id: string): Promise<PayoutView> => {
  const view = await payouts.reading.get(actor.projectId, id);
  checkAccounts(payouts, actor, view.kind);
  if (!hasFailed(view))
    throw new DomainError(
      "invalid_state",
      "No row of this payout has failed for good, so there is nothing to try again.",
    );
  const input = await retryInput(view, payouts.reading.allItems(view, "failed"));
  const request = await readInput(payouts, actor, input);
  // Duplicates are allowed, because a retry repeats the payments of the failed rows. The retry
  // stores the keys of its rows, so an equal payment after it is a duplicate.
  const origin = { key: null, retryOf: view.payout.id, run: null, allowDuplicates: true };
  return payouts.reading.view(await createPayout(payouts, actor, request, origin));
};

/**
 * Checks the recipients against the list of the caller's API key again, before the stored answer of
 * an earlier call is repeated. The list may have changed since that call.
 * @throws DomainError `recipient_not_allowed` naming each row
 */
const checkRecipients = (
  { policies }: Payouts,
  actor: Actor,
  {
    transfers,
  }: { readonly transfers: readonly Pick<RequestInput["transfers"][number], "address">[] },
): void => refuseFaults(strangersAmong(transfers, policies.mayPay(actor)), transfers.length);

/**
 * Checks that the caller may still pay the rows of a retry, before the stored answer of an earlier
 * call is repeated.
 * @throws DomainError `not_found`, `recipient_not_allowed`
 */
const checkRetry = async (payouts: Payouts, actor: Actor, id: string): Promise<void> => {
  const view = await payouts.reading.get(actor.projectId, id);
  checkAccounts(payouts, actor, view.kind);
  const transfers: { address: string }[] = [];
  for await (const page of payouts.reading.allItems(view, "failed"))
    if (page.kind === "wallets")
      transfers.push(...page.rows.map(({ recipient }) => ({ address: recipient })));
  checkRecipients(payouts, actor, { transfers });
};

/**
 * Settles a batch in doubt of a payout to wallets, whose payments another operation may have made.
 * @throws DomainError `not_found`, and the errors of `decideDoubt` in
 * `wallets/batches/decide-doubt.ts`
 */
const decideDoubt = async (
  payouts: Payouts,
  actor: UserActor,
  { id, batch }: { readonly id: string; readonly batch: number },
  decision: DoubtDecision,
): Promise<PayoutView> => {
  const view = await payouts.reading.get(actor.projectId, id);
  if (view.kind !== "wallets") throw notFound();
  await settleDoubt(payouts, actor, view, batch, decision);
  return payouts.reading.get(actor.projectId, id);
};

/**
 * Creates the service of payouts. Amounts are in ledger units (18 decimals) between accounts, and
 * in base units of the token to wallets.
 */
export const createPayoutsService = (context: PayoutsContext) => {
  const reading = createPayoutReading(context);
  const payouts: Payouts = { ...context, reading };
  return {
    /** Creates the payout that a caller requests; see `create` above. */
    create: <K extends Kind>(actor: Actor, input: CallOf<K>) => create(payouts, actor, input),
    /**
     * Stores the payout of a request that was read and approved before, such as a run of a
     * schedule.
     */
    createPayout: bindDeps(context, createPayout),
    get: reading.get,
    list: reading.list,
    items: reading.items,
    allItems: reading.allItems,
    known: reading.known,
    checkRecipients: bindDeps(payouts, checkRecipients),
    checkRetry: bindDeps(payouts, checkRetry),
    awaiting: bindDeps(payouts, awaitingApproval),
    cancel: bindDeps(payouts, cancel),
    retry: bindDeps(payouts, retry),
    decideDoubt: bindDeps(payouts, decideDoubt),
    expireDue: context.repository.expireDue,
    /**
     * The functions by which the decisions service checks, starts and ends payouts that people vote
     * on.
     */
    subject: createPayoutSubject(payouts),
  };
};

export { outcomeOf } from "./outcome";
export type PayoutsService = ReturnType<typeof createPayoutsService>;
