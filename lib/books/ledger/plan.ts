import {
  BATCH_ROWS_MAX,
  systemAccountId,
  type BatchCommand,
  type FundCommand,
  type LedgerCommand,
  type ReverseCommand,
  type SettleCommand,
  type TransferRow,
  type WithdrawCommand,
} from "./commands";
import type { Account, RejectedRow, Rejection, RejectionCode, Snapshot } from "./snapshot";

interface Posting {
  readonly accountId: string;
  /** Negative for a debit. */
  readonly amountBase: bigint;
}

export interface Plan {
  readonly postings: readonly Posting[];
  readonly reversesId: string | null;
}

const NOTHING: Plan = { postings: [], reversesId: null };
const REVERSIBLE: ReadonlySet<string> = new Set(["transfer", "batch", "fund"]);

export const isRejection = (value: object): value is Rejection => "code" in value;

const findCustomer = (snapshot: Snapshot, projectId: string, id: string): Account | null => {
  const account = snapshot.accounts.get(id);
  // An account of another project counts as missing.
  return account?.projectId === projectId && account.kind === "customer" ? account : null;
};

/** The reason why the account cannot take part in the command; null when it can. */
const faultOf = (account: Account | null, currency: string): RejectionCode | null => {
  if (!account) return "unknown_account";
  if (account.currency !== currency) return "wrong_currency";
  return account.status === "active" ? null : "account_frozen";
};

const refuseAccount = (
  snapshot: Snapshot,
  projectId: string,
  id: string,
  currency: string,
): Rejection | null => {
  const code = faultOf(findCustomer(snapshot, projectId, id), currency);
  return code && { code, accountId: id };
};

const rowFault = (
  snapshot: Snapshot,
  projectId: string,
  row: TransferRow,
): Rejection | null => {
  if (row.amountBase <= 0n) return { code: "invalid_amount" };
  if (row.from === row.to) return { code: "same_account", accountId: row.to };
  return (
    refuseAccount(snapshot, projectId, row.from, row.currency) ??
    refuseAccount(snapshot, projectId, row.to, row.currency)
  );
};

const planTransfer = (
  snapshot: Snapshot,
  command: TransferRow & { projectId: string },
): Plan | Rejection =>
  rowFault(snapshot, command.projectId, command) ?? {
    ...NOTHING,
    postings: [
      { accountId: command.from, amountBase: -command.amountBase },
      { accountId: command.to, amountBase: command.amountBase },
    ],
  };

/**
 * For consecutive rows with the same source, one debit followed by their credits, so that the rows
 * still take effect in order.
 */
const postingsOf = (rows: readonly TransferRow[]): Posting[] => {
  const postings: Posting[] = [];
  for (let start = 0, end = 0; start < rows.length; start = end) {
    const from = rows[start]?.from ?? "";
    while (rows[end]?.from === from) end += 1;
    const run = rows.slice(start, end);
    postings.push({
      accountId: from,
      amountBase: -run.reduce((sum, row) => sum + row.amountBase, 0n),
    });
    for (const row of run) postings.push({ accountId: row.to, amountBase: row.amountBase });
  }
  return postings;
};

const planBatch = (snapshot: Snapshot, { projectId, rows }: BatchCommand): Plan | Rejection => {
  if (rows.length === 0 || rows.length > BATCH_ROWS_MAX)
    return { code: "invalid_rows", rows: [] };
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
  const reserve = snapshot.accounts.get(
    systemAccountId(projectId, currency, "treasury_reserve"),
  );
  if (!reserve) return { code: "unknown_account" };
  const transit = snapshot.accounts.get(
    systemAccountId(projectId, currency, "withdrawal_transit"),
  );
  // Reserve and transit sum to the negated sum of all customers' balances. The limit does not apply
  // to money in transit, because the treasury holds that separately.
  const owedBase = -reserve.balance - (transit?.balance ?? 0n);
  const excess = amountBase + owedBase - (liabilitiesMaxBase ?? 0n);
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

const planWithdraw = (snapshot: Snapshot, command: WithdrawCommand): Plan | Rejection => {
  const { projectId, from, amountBase, currency } = command;
  if (amountBase <= 0n) return { code: "invalid_amount" };
  const refused = refuseAccount(snapshot, projectId, from, currency);
  if (refused) return refused;
  const transit = snapshot.accounts.get(
    systemAccountId(projectId, currency, "withdrawal_transit"),
  );
  if (!transit) return { code: "unknown_account" };
  return {
    ...NOTHING,
    postings: [
      { accountId: from, amountBase: -amountBase },
      { accountId: transit.id, amountBase },
    ],
  };
};

const planSettle = (snapshot: Snapshot, command: SettleCommand): Plan | Rejection => {
  const { projectId, to, paidBase, returnedBase, currency } = command;
  if (paidBase < 0n || returnedBase < 0n || paidBase + returnedBase === 0n)
    return { code: "invalid_amount" };
  const account = findCustomer(snapshot, projectId, to);
  if (!account) return { code: "unknown_account" };
  if (account.currency !== currency) return { code: "wrong_currency" };
  const [reserve, transit] = (["treasury_reserve", "withdrawal_transit"] as const).map((kind) =>
    snapshot.accounts.get(systemAccountId(projectId, currency, kind)),
  );
  if (!reserve || !transit) return { code: "unknown_account" };
  const postings = [
    { accountId: transit.id, amountBase: -paidBase - returnedBase },
    { accountId: reserve.id, amountBase: paidBase },
    { accountId: to, amountBase: returnedBase },
  ];
  return { ...NOTHING, postings: postings.filter(({ amountBase }) => amountBase !== 0n) };
};

const planReverse = (
  snapshot: Snapshot,
  { projectId, transactionId }: ReverseCommand,
): Plan | Rejection => {
  const source = snapshot.sourceTransactions.get(transactionId);
  if (source?.projectId !== projectId) return { code: "unknown_transaction" };
  // A reversal cannot be reversed. A new transaction is needed instead.
  if (!REVERSIBLE.has(source.kind) || source.entries.length === 0)
    return { code: "not_reversible" };
  if (source.reversed) return { code: "already_reversed" };
  const stopped = source.entries
    .map(({ accountId }) => snapshot.accounts.get(accountId))
    .find((account) => account?.kind === "customer" && account.status !== "active");
  if (stopped !== undefined) return { code: "account_frozen", accountId: stopped.id };
  const postings = source.entries.map(({ accountId, amountBase }) => ({
    accountId,
    amountBase: -amountBase,
  }));
  // Credits come first, so that an account can use its credit for its debit.
  const credits = postings.filter(({ amountBase }) => amountBase > 0n);
  const debits = postings.filter(({ amountBase }) => amountBase < 0n);
  return { ...NOTHING, postings: [...credits, ...debits], reversesId: source.id };
};

/**
 * Computes the effects of a command, or the reason to refuse it. Balances are not checked here but
 * in `decide`.
 */
export const planOf = (snapshot: Snapshot, command: LedgerCommand): Plan | Rejection => {
  switch (command.kind) {
    case "transfer":
      return planTransfer(snapshot, command);
    case "batch":
      return planBatch(snapshot, command);
    case "fund":
      return planFund(snapshot, command);
    case "reverse":
      return planReverse(snapshot, command);
    case "withdraw":
      return planWithdraw(snapshot, command);
    case "settle":
      return planSettle(snapshot, command);
  }
};
