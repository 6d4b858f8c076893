import type { LedgerCommand } from "./commands";
import { isRejection, planOf, type Plan } from "./plan";
import type { Account, Answer, Entry, Outcome, Rejection, Snapshot } from "./snapshot";

interface Context {
  readonly now: Date;
  /** Id of the transaction that is stored for the command, even if the command is rejected. */
  readonly transactionId: string;
  readonly keyHash: string;
  readonly digest: string;
}

export interface Effects {
  readonly answer: Answer;
  readonly entries: readonly Entry[];
  readonly reversesId: string | null;
  readonly accounts: readonly Account[];
}

/**
 * The decision on one command. `effects` is null when nothing is to be written, because the answer
 * is stored already or because another request has used the key.
 */
export interface Decision {
  readonly outcome: Outcome;
  readonly effects: Effects | null;
}

const MAX_UINT256 = (1n << 256n) - 1n;

export const outcomeOf = (answer: Answer, replayed: boolean): Outcome => {
  const { transactionId, at, rejection } = answer;
  return rejection === null
    ? { posted: true, transactionId, at, replayed }
    : { posted: false, transactionId, at, replayed, rejection };
};

const below = (account: Account): Rejection | null => {
  if (account.minimum === null || account.balance >= account.minimum) return null;
  const missing = account.minimum - account.balance;
  return {
    code: "insufficient_balance",
    accountId: account.id,
    missingBase: missing.toString(),
  };
};

/** Changed copies of accounts, by account id. They are discarded when the command is refused. */
class WorkingSet {
  readonly accounts = new Map<string, Account>();

  constructor(
    private readonly snapshot: Snapshot,
    private readonly now: number,
  ) {}

  account(id: string): Account {
    const drafted = this.accounts.get(id);
    if (drafted) return drafted;
    const account = this.snapshot.accounts.get(id);
    if (!account) throw new Error(`The plan names ${id}, which was not read.`);
    // The time never decreases, so that entries stay ordered by time even if this instance's clock
    // is slow.
    const copy = { ...account, updatedAt: Math.max(account.updatedAt, this.now) };
    this.accounts.set(id, copy);
    return copy;
  }

  post(accountId: string, amountBase: bigint, transactionId: string): Entry | Rejection {
    const account = this.account(accountId);
    account.balance += amountBase;
    if (account.balance > MAX_UINT256 || account.balance < -MAX_UINT256)
      return { code: "amount_too_large", accountId };
    const rejection = amountBase < 0n ? below(account) : null;
    if (rejection) return rejection;
    account.version += 1n;
    account.lastSeq += 1n;
    return {
      accountId,
      seq: account.lastSeq,
      transactionId,
      currency: account.currency,
      amountBase,
      balanceAfterBase: account.balance,
      at: account.updatedAt,
    };
  }
}

const carryOut = (
  snapshot: Snapshot,
  plan: Plan,
  { transactionId, now }: Context,
): { draft: WorkingSet; entries: Entry[] } | Rejection => {
  const draft = new WorkingSet(snapshot, now.getTime());
  const entries: Entry[] = [];
  for (const { accountId, amountBase } of plan.postings) {
    const entry = draft.post(accountId, amountBase, transactionId);
    if ("code" in entry) return entry;
    entries.push(entry);
  }
  return { draft, entries };
};

const remember = (
  snapshot: Snapshot,
  command: LedgerCommand,
  { keyHash }: Context,
  effects: Effects,
): Decision => {
  for (const account of effects.accounts) snapshot.accounts.set(account.id, account);
  const source =
    effects.reversesId === null
      ? undefined
      : snapshot.sourceTransactions.get(effects.reversesId);
  if (source) source.reversed = true;
  const { transactionId } = effects.answer;
  const { projectId, kind } = command;
  snapshot.sourceTransactions.set(transactionId, {
    id: transactionId,
    projectId,
    kind,
    entries: effects.entries,
    reversed: false,
  });
  snapshot.answers.set(keyHash, effects.answer);
  return { outcome: outcomeOf(effects.answer, false), effects };
};

/**
 * Decides one command against the snapshot, and changes the snapshot when the command is accepted.
 * Makes no I/O and reads no clock. A stored answer to the same key is returned again. A refused
 * command changes no account, but uses up its key.
 */
export const decide = (
  snapshot: Snapshot,
  command: LedgerCommand,
  context: Context,
): Decision => {
  const { transactionId, digest, now } = context;
  const known = snapshot.answers.get(context.keyHash);
  if (known) {
    if (known.digest === digest) return { outcome: outcomeOf(known, true), effects: null };
    const rejection = { code: "idempotency_mismatch" } as const;
    return {
      outcome: { posted: false, transactionId: null, at: now, replayed: false, rejection },
      effects: null,
    };
  }
  const refuse = (rejection: Rejection): Decision => {
    const answer = { transactionId, digest, at: now, rejection };
    return remember(snapshot, command, context, {
      answer,
      entries: [],
      reversesId: null,
      accounts: [],
    });
  };
  const plan = planOf(snapshot, command);
  if (isRejection(plan)) return refuse(plan);
  const carried = carryOut(snapshot, plan, context);
  if (isRejection(carried)) return refuse(carried);
  return remember(snapshot, command, context, {
    answer: { transactionId, digest, at: now, rejection: null },
    entries: carried.entries,
    reversesId: plan.reversesId,
    accounts: [...carried.draft.accounts.values()],
  });
};
