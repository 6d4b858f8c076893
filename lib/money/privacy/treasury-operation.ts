/**
 * Operations of the treasury on a pool (shields and public exits). Each is one leg, which the
 * operations driver executes.
 */
import { type Actor, actorName } from "@/lib/core/actor";
import type { Tx } from "@/lib/platform/db/client";
import { doneBy } from "@/lib/news/audit/service";
import type { NewLeg } from "@/lib/money/operations/service";
import { needsVotes, routeIntent, type RequiredApproval } from "@/lib/trust/policies/service";
import type { WalletsService } from "@/lib/trust/wallets/service";
import type { EvmAddress } from "@/lib/core/evm";
import type { RouteRequest } from "@/lib/core/route-request";
import {
  admissionOf,
  APPROVAL_SECONDS,
  askForVotes,
  type Consent,
  type PrivacyContext,
  votesFor,
} from "./context";
import { NotAdmittedError, treasuryMissing } from "./errors";
import type { PrivateTransfer } from "./rows";

export const ESTIMATED_SECONDS = 5;

type TreasuryWallet = NonNullable<Awaited<ReturnType<WalletsService["treasury"]>>>;
export type Treasury = TreasuryWallet & { readonly ownerAddress: EvmAddress };

export type NewTransfer = Omit<PrivateTransfer, "operationId">;

/** Why an operation runs: it is new, or it was waiting and has been approved. */
export type Run =
  | { readonly why: "new"; readonly transfer: NewTransfer; readonly retryOf: string | null }
  | { readonly why: "approved"; readonly transfer: PrivateTransfer; readonly consent: Consent };

interface TreasuryOperation {
  readonly treasury: Treasury;
  readonly request: RouteRequest;
  readonly recipients: readonly string[];
}

interface RunningOperation extends TreasuryOperation {
  readonly leg: NewLeg;
  /**
   * Reserves the note or the deposit number, in the transaction that stores the operation.
   * @throws TakenError
   */
  readonly claim: (tx: Tx, operationId: string) => Promise<void>;
}

/**
 * The project's treasury, with the address of its owner.
 * @throws DomainError `unknown_wallet`
 */
export const requireTreasury = async (
  context: PrivacyContext,
  projectId: string,
): Promise<Treasury> => {
  const treasury = await context.wallets.treasury(projectId);
  if (treasury === null || treasury.ownerAddress === null) throw treasuryMissing();
  return { ...treasury, ownerAddress: treasury.ownerAddress };
};

const auditOf = (actor: Actor, run: Run) => {
  const { kind, id: transferId } = run.transfer;
  const consent = run.why === "approved" ? run.consent : { means: "policy" };
  return {
    ...doneBy(actor),
    action: run.why === "approved" ? "operation.approved" : "operation.executed",
    data: { kind, transferId, ...consent },
  };
};

const originOf = (run: Run) => {
  const { id } = run.transfer;
  return { quoteId: id, transferId: id, retryOf: run.why === "new" ? run.retryOf : null };
};

/**
 * Checks the operation against the policies, and stores it with its leg.
 * @returns false when a waiting operation no longer awaits approval
 * @throws NotAdmittedError, TakenError
 */
export const runOperation = async (
  context: PrivacyContext,
  actor: Actor,
  run: Run,
  { treasury, request, recipients, leg, claim }: RunningOperation,
): Promise<boolean> => {
  const { projectId } = actor;
  const { token, amountBase, kind } = run.transfer;
  const admit =
    run.why === "approved" ? null : await context.admission(actor, token, amountBase);
  const { createdBy } = run.transfer;
  const intent = routeIntent(actor, {
    kind,
    request,
    wallets: [treasury],
    createdBy,
    recipients,
  });
  const started = await context.policyEngine.checking(intent, (check) =>
    context.operations.start({
      projectId,
      ...(run.why === "approved" ? { operationId: run.transfer.operationId } : {}),
      kind,
      createdBy: actorName(actor),
      origin: originOf(run),
      request,
      wallets: [treasury],
      legs: [leg],
      claim: {
        by: "prisma",
        take: async (tx, operationId) => {
          if (admit !== null && !(await admit(tx))) throw new NotAdmittedError();
          await claim(tx, operationId);
          if (run.why === "approved") return true;
          const { transfer, retryOf } = run;
          await context.claimRetry(tx, { projectId: transfer.projectId, retryOf }, operationId);
          await context.repository.insertTransfer(tx, { ...transfer, operationId });
          return true;
        },
      },
      enforce: async (sql, { id, digest }) => {
        const admission =
          run.why === "approved" ? admissionOf(run.consent) : { hasCode: false };
        const passed = await check.evaluate(sql, { type: "operation", id, digest }, admission);
        if (passed === null) throw new NotAdmittedError();
        return passed;
      },
      audit: auditOf(actor, run),
    }),
  );
  return started !== null;
};

const awaitApproval = async (
  context: PrivacyContext,
  actor: Actor,
  run: Run & { readonly why: "new" },
  awaiting: TreasuryOperation & {
    readonly expectedBase: bigint;
    readonly required: RequiredApproval | null;
    readonly lines: readonly string[];
  },
): Promise<void> => {
  const { treasury, request, expectedBase, required, lines } = awaiting;
  const { transfer, retryOf } = run;
  await context.operations.startAwaiting({
    projectId: actor.projectId,
    kind: transfer.kind,
    createdBy: actorName(actor),
    origin: originOf(run),
    request,
    wallets: [treasury],
    expectedBase,
    minimumBase: expectedBase,
    expiresAfterSeconds: APPROVAL_SECONDS,
    claim: async (tx, operationId) => {
      await context.claimRetry(tx, { projectId: transfer.projectId, retryOf }, operationId);
      const stored = { ...transfer, operationId };
      await context.repository.insertTransfer(tx, stored);
      await askForVotes(context, tx, actor, { transfer: stored, lines, required });
    },
  });
};

/**
 * Starts a new operation at once when the caller's policy allows it; otherwise the operation
 * awaits approval.
 * @param steps `start` stores the running operation; `awaiting` returns the data of an operation
 * that awaits approval
 */
export const startOrAwait = async (
  context: PrivacyContext,
  actor: Actor,
  run: Run & { readonly why: "new" },
  steps: {
    readonly start: () => Promise<unknown>;
    readonly awaiting: (
      treasury: Treasury,
    ) => Omit<TreasuryOperation, "treasury"> & { readonly expectedBase: bigint };
    /**
     * The lines that people read before they approve the operation, such as amount, chain and
     * recipient.
     */
    readonly lines: readonly string[];
  },
): Promise<void> => {
  const wait = async (): Promise<void> => {
    const treasury = await requireTreasury(context, actor.projectId);
    const awaiting = steps.awaiting(treasury);
    const { request, recipients } = awaiting;
    const { kind } = run.transfer;
    const intent = routeIntent(actor, { kind, request, wallets: [treasury], recipients });
    const required = await votesFor(context, intent);
    await awaitApproval(context, actor, run, {
      treasury,
      ...awaiting,
      required,
      lines: steps.lines,
    });
  };
  if (context.policies.needsCode(actor)) return wait();
  try {
    await steps.start();
  } catch (error) {
    if (!(error instanceof NotAdmittedError) && !needsVotes(error)) throw error;
    await wait();
  }
};
