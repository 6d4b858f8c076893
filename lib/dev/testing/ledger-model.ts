import {
  systemAccountId,
  type LedgerCommand,
  type TransferRow,
} from "@/lib/books/ledger/commands";

/** The largest amount that the ledger stores. */
export const STORED_MAX = 2n ** 256n - 1n;
const START = Date.UTC(2026, 0, 1);

interface ModelTransaction {
  readonly id: string;
  readonly kind: string;
  readonly moves: readonly (readonly [string, bigint])[];
  reversed: boolean;
}

/** A simple ledger for comparison: a map of balances, changed by one command after another. */
export class LedgerModel {
  balances = new Map<string, bigint>();
  readonly frozen = new Set<string>();
  readonly transactions: ModelTransaction[] = [];
  readonly answers = new Map<string, { same: string; result: string }>();
  now = START;

  constructor(
    readonly projectId: string,
    readonly currencies: ReadonlyMap<string, string>,
  ) {}

  balance(id: string): bigint {
    return this.balances.get(id) ?? 0n;
  }

  add(id: string, amount: bigint): void {
    this.balances.set(id, this.balance(id) + amount);
  }

  problem(id: string, currency: string): string | null {
    if (!this.currencies.has(id)) return "unknown_account";
    if (this.currencies.get(id) !== currency) return "wrong_currency";
    return this.frozen.has(id) ? "account_frozen" : null;
  }

  rowProblem({ from, to, amountBase, currency }: TransferRow): string | null {
    if (amountBase <= 0n) return "invalid_amount";
    if (from === to) return "same_account";
    return this.problem(from, currency) ?? this.problem(to, currency);
  }

  move({ from, to, amountBase }: TransferRow): string | null {
    if (this.balance(from) < amountBase) return "insufficient_balance";
    if (this.balance(to) + amountBase > STORED_MAX) return "amount_too_large";
    this.add(from, -amountBase);
    this.add(to, amountBase);
    return null;
  }

  batch(rows: readonly TransferRow[]): string {
    if (rows.some((row) => this.rowProblem(row) !== null)) return "invalid_rows";
    const before = new Map(this.balances);
    for (const row of rows) {
      const problem = this.move(row);
      if (problem === null) continue;
      this.balances = before;
      return problem;
    }
    return "posted";
  }

  fund(command: LedgerCommand & { kind: "fund" }): string {
    const { to, amountBase, currency, liabilitiesMaxBase } = command;
    if (amountBase <= 0n) return "invalid_amount";
    const problem = this.problem(to, currency);
    if (problem) return problem;
    const reserve = systemAccountId(this.projectId, currency, "treasury_reserve");
    let owed = 0n;
    for (const [id, of] of this.currencies) if (of === currency) owed += this.balance(id);
    if (liabilitiesMaxBase !== null && owed + amountBase > liabilitiesMaxBase)
      return "insufficient_reserves";
    if (owed + amountBase > STORED_MAX) return "amount_too_large";
    this.add(reserve, -amountBase);
    this.add(to, amountBase);
    return "posted";
  }

  reverse(transactionId: string): string {
    const original = this.transactions.find(({ id }) => id === transactionId);
    if (!original) return "unknown_transaction";
    if (
      ["reverse", "withdraw", "settle"].includes(original.kind) ||
      original.moves.length === 0
    )
      return "not_reversible";
    if (original.reversed) return "already_reversed";
    if (original.moves.some(([id]) => this.frozen.has(id))) return "account_frozen";
    const after = new Map(this.balances);
    const change = (id: string, amount: bigint): bigint => {
      after.set(id, (after.get(id) ?? 0n) + amount);
      return after.get(id) ?? 0n;
    };
    for (const [id, amount] of original.moves)
      if (amount < 0n && change(id, -amount) > STORED_MAX) return "amount_too_large";
    for (const [id, amount] of original.moves) if (amount > 0n) change(id, -amount);
    for (const [id, amount] of original.moves) {
      if (amount > 0n && this.currencies.has(id) && (after.get(id) ?? 0n) < 0n)
        return "insufficient_balance";
    }
    this.balances = after;
    original.reversed = true;
    return "posted";
  }

  withdraw({ from, amountBase, currency }: LedgerCommand & { kind: "withdraw" }): string {
    if (amountBase <= 0n) return "invalid_amount";
    const problem = this.problem(from, currency);
    if (problem) return problem;
    if (this.balance(from) < amountBase) return "insufficient_balance";
    this.add(from, -amountBase);
    this.add(systemAccountId(this.projectId, currency, "withdrawal_transit"), amountBase);
    return "posted";
  }

  settle({ to, paidBase, returnedBase, currency }: LedgerCommand & { kind: "settle" }): string {
    if (paidBase + returnedBase <= 0n) return "invalid_amount";
    const problem = this.problem(to, currency);
    if (problem && problem !== "account_frozen") return problem;
    const transit = systemAccountId(this.projectId, currency, "withdrawal_transit");
    if (this.balance(transit) < paidBase + returnedBase) return "insufficient_balance";
    if (this.balance(to) + returnedBase > STORED_MAX) return "amount_too_large";
    this.add(transit, -paidBase - returnedBase);
    this.add(systemAccountId(this.projectId, currency, "treasury_reserve"), paidBase);
    this.add(to, returnedBase);
    return "posted";
  }

  decide(command: LedgerCommand): string {
    switch (command.kind) {
      case "transfer":
        return this.rowProblem(command) ?? this.move(command) ?? "posted";
      case "batch":
        return this.batch(command.rows);
      case "fund":
        return this.fund(command);
      case "reverse":
        return this.reverse(command.transactionId);
      case "withdraw":
        return this.withdraw(command);
      case "settle":
        return this.settle(command);
    }
  }

  /** The expected answer. Stores the command's effects under the id that the ledger assigned. */
  answer(command: LedgerCommand, transactionId: string | null): string {
    const key = `${command.kind}/${command.key}`;
    const same = JSON.stringify({ ...command, liabilitiesMaxBase: null }, (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
    const known = this.answers.get(key);
    if (known) return known.same === same ? known.result : "idempotency_mismatch";
    const before = new Map(this.balances);
    const result = this.decide(command);
    this.answers.set(key, { same, result });
    const id = transactionId ?? "";
    const moves = this.movesSince(command, before);
    this.transactions.push({
      id,
      kind: command.kind,
      moves: result === "posted" ? moves : [],
      reversed: false,
    });
    return result;
  }

  movesSince(
    command: LedgerCommand,
    before: ReadonlyMap<string, bigint>,
  ): (readonly [string, bigint])[] {
    // A batch may credit and debit the same account, so its rows are returned, not the changes of
    // balances.
    if (command.kind === "batch")
      return command.rows.flatMap(({ from, to, amountBase }) => [
        [from, -amountBase] as const,
        [to, amountBase] as const,
      ]);
    return [...this.balances].flatMap(([id, balance]) => {
      const change = balance - (before.get(id) ?? 0n);
      return change === 0n ? [] : [[id, change] as const];
    });
  }
}
