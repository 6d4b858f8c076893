/** Changes of an account that move no money: its name, and whether entries may be posted to it. */
import { bindDeps } from "@/lib/core/bind-deps";
import type { Actor, UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import type { SqlReader } from "@/lib/platform/db/sql";
import {
  type Change as ApprovableChange,
  type ApprovalsService,
  type GivenApproval,
  quoted,
} from "@/lib/trust/proofs/service";
import { doneBy, recordAuditOn, type AuditData } from "@/lib/news/audit/service";
import { recordEventsOn } from "@/lib/news/events/service";
import type { LedgerService } from "@/lib/books/ledger/service";
import type { GlobalAccount, GlobalAccountsService } from "./service";

interface AccountChangesDeps {
  readonly database: Pick<Database, "transaction">;
  readonly ledger: Pick<LedgerService, "changeAccount">;
  readonly accounts: Pick<GlobalAccountsService, "get">;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  /**
   * The amount that withdrawals debited from an account and that is neither paid nor returned yet,
   * in ledger units.
   */
  readonly inTransit: (
    reader: SqlReader,
    projectId: string,
    accountId: string,
  ) => Promise<bigint>;
  readonly clock: Clock;
}

type Change = Parameters<LedgerService["changeAccount"]>[0]["to"];

interface Asked {
  readonly actor: Actor;
  readonly own: GlobalAccount;
  readonly to: Change;
  readonly action: string;
  readonly data?: AuditData;
}

const CLOSED = "The account is closed, and stays closed. Nothing was changed.";

const IN_TRANSIT =
  "A withdrawal from the account is not settled yet, and what does not arrive is returned to the account. Close it afterwards. Nothing was changed.";

const requireNotClosed = ({ account }: GlobalAccount): void => {
  if (account.status === "closed") throw new DomainError("invalid_state", CLOSED);
};

/**
 * Changes the account, and stores its audit entry and event in the same transaction.
 * @returns whether the account changed
 */
const carryOut = (
  deps: AccountChangesDeps,
  { actor, own, to, action, data = {} }: Asked,
): Promise<boolean> => {
  const { projectId } = actor;
  const { id: accountId } = own.account;
  const at = deps.clock.now();
  // The state is taken from the changed row, because another person may have changed the account
  // since it was read.
  return deps.ledger.changeAccount(
    { projectId, accountId, to },
    async (sql, { name, status, reason }) => {
      // Read under the lock of the account's row, which each withdrawal needs.
      if (status === "closed" && (await deps.inTransit(sql, projectId, accountId)) > 0n)
        throw new DomainError("invalid_state", IN_TRANSIT);
      const state = { name, status, reason };
      await recordAuditOn(sql, {
        ...doneBy(actor),
        action,
        subject: accountId,
        data: { ...state, ...data },
        at,
      });
      const event = { accountId, ...state };
      await recordEventsOn(sql, [
        { projectId, type: "global_account.updated", objectId: accountId, data: event, at },
      ]);
    },
  );
};

/** Changes the name of the account; null removes it. @throws DomainError `not_found` */
const rename = async (
  deps: AccountChangesDeps,
  actor: Actor,
  id: string,
  name: string | null,
): Promise<GlobalAccount> => {
  const own = await deps.accounts.get(actor.projectId, id);
  await carryOut(deps, { actor, own, to: { name }, action: "global_account.renamed" });
  return deps.accounts.get(actor.projectId, id);
};

/**
 * Stops payments to and from the account. Does nothing for a frozen account.
 * @throws DomainError `not_found`, `invalid_state` when it is closed
 */
const freeze = async (
  deps: AccountChangesDeps,
  actor: Actor,
  id: string,
  reason: string,
): Promise<GlobalAccount> => {
  const own = await deps.accounts.get(actor.projectId, id);
  requireNotClosed(own);
  await carryOut(deps, {
    actor,
    own,
    to: { status: "frozen", reason },
    action: "global_account.frozen",
  });
  return deps.accounts.get(actor.projectId, id);
};

/**
 * Allows payments to and from a frozen account again. Does nothing for an active account.
 * @throws DomainError `not_found`, `invalid_state` when it is closed, `approval_required`
 */
const unfreeze = async (
  deps: AccountChangesDeps,
  actor: UserActor,
  id: string,
  given: GivenApproval | undefined,
): Promise<GlobalAccount> => {
  const own = await deps.accounts.get(actor.projectId, id);
  requireNotClosed(own);
  const { account } = own;
  if (account.status === "active") return own;
  const change: ApprovableChange = {
    kind: "global_account.unfreeze",
    title: "Unfreeze a global account, so that it can pay and be paid again",
    lines: [
      `Account: ${id}${account.name === null ? "" : `, ${quoted(account.name)}`}`,
      `Frozen because: ${account.statusReason === null ? "no reason was given" : quoted(account.statusReason)}`,
    ],
    values: {
      projectId: actor.projectId,
      id,
      name: account.name,
      reason: account.statusReason,
    },
  };
  const approved = await deps.approvals.requireApproval(actor, change, given);
  // The ledger uses separate transactions. If the process crashes after this transaction and
  // before the ledger's, the approval is used up and the account is still frozen.
  await deps.database.transaction((tx) => approved.consume(tx));
  const asked = { actor, own, action: "global_account.unfrozen", data: approved.record };
  await carryOut(deps, { ...asked, to: { status: "active" } });
  return deps.accounts.get(actor.projectId, id);
};

/**
 * Closes an empty account permanently. Does nothing for a closed account.
 * @throws DomainError `not_found`, `invalid_state` when it holds money or a withdrawal from it is
 * not settled
 */
const close = async (
  deps: AccountChangesDeps,
  actor: UserActor,
  id: string,
  reason: string | null,
): Promise<GlobalAccount> => {
  const own = await deps.accounts.get(actor.projectId, id);
  if (own.account.status === "closed") return own;
  const asked = {
    actor,
    own,
    to: { status: "closed", reason } as const,
    action: "global_account.closed",
  };
  if (await carryOut(deps, asked)) return deps.accounts.get(actor.projectId, id);
  const now = await deps.accounts.get(actor.projectId, id);
  if (now.account.status === "closed") return now;
  throw new DomainError(
    "invalid_state",
    "Only an empty account can be closed. Pay out what it holds, or take its fundings back; then close it. Nothing was changed.",
  );
};

export const createAccountChanges = (deps: AccountChangesDeps) => ({
  rename: bindDeps(deps, rename),
  freeze: bindDeps(deps, freeze),
  unfreeze: bindDeps(deps, unfreeze),
  close: bindDeps(deps, close),
});

export type AccountChangesService = ReturnType<typeof createAccountChanges>;
