import type { Sql } from "@/lib/db/sql";
import { ensureSystemAccount } from "./accounts";
import type { SettleCommand, WithdrawCommand } from "./commands";
import { toDomainError } from "./errors";
import { postIn } from "./post";
import type { Posted } from "./snapshot";

/**
 * Posts a withdrawal, or a part of its end, in the caller's transaction, so that the account changes together with the treasury's hold.
 * Locks the accounts last: no lock of a balance on chain may follow. A refusal stores nothing.
 * @throws DomainError `not_found`, `invalid_state`, `insufficient_balance`, …
 */
export const postWithin = async (sql: Sql, command: WithdrawCommand | SettleCommand, now: Date): Promise<Posted> => {
  const { projectId, currency } = command;
  if (command.kind === "withdraw")
    await ensureSystemAccount(sql, { projectId, currency, kind: "withdrawal_transit", now });
  const [outcome] = await postIn(sql, [command], { now: () => now });
  if (outcome === undefined) throw new Error("The ledger did not answer.");
  if (!outcome.posted) throw toDomainError(outcome.rejection);
  return outcome;
};
