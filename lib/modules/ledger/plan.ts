import {
  BATCH_ROWS_MAX,
  systemAccountId,
  type BatchCommand,
  type EndHoldCommand,
  type FundCommand,
  type HoldCommand,
  type LedgerCommand,
  type PostHoldCommand,
  type ReverseCommand,
  type TransferRow,
} from "./commands";
import type { Account, Hold, RejectedRow, Rejection, RejectionCode, Snapshot } from "./snapshot";

interface Posting {
  readonly accountId: string;
  /** Negative for a debit. */
  readonly amountBase: bigint;
}

/** The effects of a command, provided that the balances allow them. */
export interface Plan {
  readonly postings: readonly Posting[];
  /** A change of an account's held amount, which is applied before the postings. */
  readonly held: { readonly accountId: string; readonly deltaBase: bigint } | null;
  /** The hold after the command. */
  readonly hold: Hold | null;
  readonly reversesId: string | null;
}

interface PlanContext {
  readonly now: Date;
  readonly transactionId: string;
  /** Id of the hold, if the command creates one. */
  readonly holdId: string;
}

const NOTHING: Plan = { postings: [], held: null, hold: null, reversesId: null };
const REVERSIBLE: ReadonlySet<string> = new Set(["transfer", "batch", "fund", "post"]);

export const isRejection = (value: object): value is Rejection => "code" in value;

const findCustomer = (snapshot: Snapshot, projectId: string, id: string): Account | null => {
  const account = snapshot.accounts.get(id);
  // An account of another project is treated like one that does not exist.
  return account?.projectId === projectId && account.kind === "customer" ? account : null;
};

/** The reason why this account cannot be part of the command; null when it can. */
const faultOf = (account: Account | null, currency: string): RejectionCode | null => {
  if (!account) return "unknown_account";
  if (account.currency !== currency) return "wrong_currency";
  return account.status === "frozen" ? "account_frozen" : null;
};

const refuseAccount = (snapshot: Snapshot, projectId: string, id: string, currency: string): Rejection | null => {
  const code = faultOf(findCustomer(snapshot, projectId, id), currency);
  return code && { code, accountId: id };
};

const rowFault = (snapshot: Snapshot, projectId: string, row: TransferRow): Rejection | null => {
  if (row.amountBase <= 0n) return { code: "invalid_amount" };
  if (row.from === row.to) return { code: "same_account", accountId: row.to };
  return (
    refuseAccount(snapshot, projectId, row.from, row.currency) ??
    refuseAccount(snapshot, projectId, row.to, row.currency)
  );
};

const planTransfer = (snapshot: Snapshot, command: TransferRow & { projectId: string }): Plan | Rejection =>
  rowFault(snapshot, command.projectId, command) ?? {
    ...NOTHING,
    postings: [
      { accountId: command.from, amountBase: -command.amountBase },
      { accountId: command.to, amountBase: command.amountBase },
    ],
  };

/** One debit for consecutive rows with the same source, then their credits. So rows still take effect in their order. */
const postingsOf = (rows: readonly TransferRow[]): Posting[] => {
  const postings: Posting[] = [];
  for (let start = 0, end = 0; start < rows.length; start = end) {
    const from = rows[start]?.from ?? "";
    while (rows[end]?.from === from) end += 1;
    const run = rows.slice(start, end);
    postings.push({ accountId: from, amountBase: -run.reduce((sum, row) => sum + row.amountBase, 0n) });
    for (const row of run) postings.push({ accountId: row.to, amountBase: row.amountBase });
  }
  return postings;
};

const planBatch = (snapshot: Snapshot, { projectId, rows }: BatchCommand): Plan | Rejection => {
  if (rows.length === 0 || rows.length > BATCH_ROWS_MAX) return { code: "invalid_rows", rows: [] };
  const faults = rows.flatMap((row, index): RejectedRow[] => {
    const fault = rowFault(snapshot, projectId, row);
    return fault ? [{ index, code: fault.code }] : [];
  });
  if (faults.length > 0) return { code: "invalid_rows", rows: faults };
  return { ...NOTHING, postings: postingsOf(rows) };
};

const planFund = (snapshot: Snapshot, command: FundCommand): Plan | Rejection => {
  const { projectId, to, amountBase, currency, liabilitiesMaxBase } = command;
  if (amountBase <= 0n) return { code: "invalid_amount" };
  const refused = refuseAccount(snapshot, projectId, to, currency);
  if (refused) return refused;
  const reserve = snapshot.accounts.get(systemAccountId(projectId, currency, "treasury_reserve"));
  if (!reserve) return { code: "unknown_account" };
  // The balance of the reserve account is the negative sum of all customers' balances.
  const excess = amountBase - reserve.balance - (liabilitiesMaxBase ?? 0n);
  if (liabilitiesMaxBase !== null && excess > 0n)
    return { code: "insufficient_reserves", missingBase: excess.toString() };
  return {
    ...NOTHING,
    postings: [
      { accountId: reserve.id, amountBase: -amountBase },
      { accountId: to, amountBase },
    ],
  };
};

const planHold = (
  snapshot: Snapshot,
  command: HoldCommand,
  { now, holdId, transactionId }: PlanContext,
): Plan | Rejection => {
  const { projectId, accountId, amountBase, currency, expiresAt } = command;
  if (amountBase <= 0n) return { code: "invalid_amount" };
  if (expiresAt <= now) return { code: "hold_expired" };
  return (
    refuseAccount(snapshot, projectId, accountId, currency) ?? {
      ...NOTHING,
      held: { accountId, deltaBase: amountBase },
      hold: {
        id: holdId,
        accountId,
        amountBase,
        status: "open",
        expiresAt,
        postedBase: null,
        transactionId,
        settledBy: null,
      },
    }
  );
};

const openHold = (
  snapshot: Snapshot,
  { projectId, holdId }: { projectId: string; holdId: string },
): Hold | Rejection => {
  const hold = snapshot.holds.get(holdId);
  if (!hold || snapshot.accounts.get(hold.accountId)?.projectId !== projectId) return { code: "unknown_hold" };
  return hold.status === "open" ? hold : { code: "hold_settled" };
};

const release = (hold: Hold): NonNullable<Plan["held"]> => ({
  accountId: hold.accountId,
  deltaBase: -hold.amountBase,
});

const planPost = (
  snapshot: Snapshot,
  command: PostHoldCommand,
  { now, transactionId }: PlanContext,
): Plan | Rejection => {
  const hold = openHold(snapshot, command);
  if (isRejection(hold)) return hold;
  // A hold ends at its expiry time, even when the sweep that ends it is late.
  if (hold.expiresAt <= now) return { code: "hold_expired" };
  const amountBase = command.amountBase ?? hold.amountBase;
  if (amountBase > hold.amountBase) return { code: "amount_above_hold" };
  const currency = snapshot.accounts.get(hold.accountId)?.currency ?? "";
  const row = { from: hold.accountId, to: command.to, amountBase, currency };
  const transfer = planTransfer(snapshot, { ...row, projectId: command.projectId });
  if (isRejection(transfer)) return transfer;
  return {
    ...transfer,
    held: release(hold),
    hold: { ...hold, status: "posted", postedBase: amountBase, settledBy: transactionId },
  };
};

const planEnd = (
  snapshot: Snapshot,
  command: EndHoldCommand,
  { now, transactionId }: PlanContext,
): Plan | Rejection => {
  const hold = openHold(snapshot, command);
  if (isRejection(hold)) return hold;
  if (command.kind === "expire" && hold.expiresAt > now) return { code: "hold_not_expired" };
  const status = command.kind === "void" ? "voided" : "expired";
  return { ...NOTHING, held: release(hold), hold: { ...hold, status, settledBy: transactionId } };
};

const planReverse = (snapshot: Snapshot, { projectId, transactionId }: ReverseCommand): Plan | Rejection => {
  const source = snapshot.sourceTransactions.get(transactionId);
  if (source?.projectId !== projectId) return { code: "unknown_transaction" };
  // A reversal cannot be reversed; a new transaction has to be posted instead.
  if (!REVERSIBLE.has(source.kind) || source.entries.length === 0) return { code: "not_reversible" };
  if (source.reversed) return { code: "already_reversed" };
  const postings = source.entries.map(({ accountId, amountBase }) => ({ accountId, amountBase: -amountBase }));
  // Credits first, so that an account can use its credit for its debit.
  const credits = postings.filter(({ amountBase }) => amountBase > 0n);
  const debits = postings.filter(({ amountBase }) => amountBase < 0n);
  return { ...NOTHING, postings: [...credits, ...debits], reversesId: source.id };
};

/** Computes the effects of a command, or the reason to refuse it. Does not check balances; `decide` does. */
export const planOf = (snapshot: Snapshot, command: LedgerCommand, context: PlanContext): Plan | Rejection => {
  switch (command.kind) {
    case "transfer":
      return planTransfer(snapshot, command);
    case "batch":
      return planBatch(snapshot, command);
    case "fund":
      return planFund(snapshot, command);
    case "hold":
      return planHold(snapshot, command, context);
    case "post":
      return planPost(snapshot, command, context);
    case "void":
    case "expire":
      return planEnd(snapshot, command, context);
    case "reverse":
      return planReverse(snapshot, command);
  }
};
