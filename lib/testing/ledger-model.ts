import fc from "fast-check";
import { systemAccountId, type LedgerCommand, type TransferRow } from "@/lib/modules/ledger/commands";
import type { AccountStatus, Outcome } from "@/lib/modules/ledger/snapshot";

/** A ledger under test: the pure core, or the service over PostgreSQL. */
export interface LedgerUnderTest {
  readonly projectId: string;
  /** Customers' accounts; those of one currency lie together. */
  readonly accounts: readonly { readonly id: string; readonly currency: string }[];
  /** Posts these at once, in this order. */
  post(commands: readonly LedgerCommand[]): Promise<readonly Outcome[]> | readonly Outcome[];
  setStatus(accountId: string, status: AccountStatus): Promise<void> | void;
  setTime(now: Date): void;
  /** Balance and held of every account, by id. */
  read(): Promise<Map<string, { balance: bigint; held: bigint }>> | Map<string, { balance: bigint; held: bigint }>;
}

/** A step in numbers; `decode` makes a command of it, once it is known which holds and transactions there are. */
type Step = readonly [op: number, a: number, b: number, amount: number];

const MAX = 2n ** 256n - 1n;
const START = Date.UTC(2026, 0, 1);
const OPS = 100;
const PICK = 1_000;
const AMOUNT_MAX = 150;

export const stepsArbitrary = (length: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.tuple(
      fc.integer({ min: 0, max: OPS - 1 }),
      fc.integer({ min: 0, max: PICK }),
      fc.integer({ min: 0, max: PICK }),
      fc.integer({ min: 0, max: AMOUNT_MAX }),
    ),
    { minLength: length, maxLength: length },
  );

interface ModelHold {
  readonly id: string;
  readonly account: string;
  readonly amount: bigint;
  readonly expires: number;
  open: boolean;
}

interface ModelTransaction {
  readonly id: string;
  readonly kind: string;
  readonly moves: readonly (readonly [string, bigint])[];
  reversed: boolean;
}

/** The ledger as one would write it on a page: a map of balances, changed one command after the other. */
class Model {
  balances = new Map<string, bigint>();
  readonly held = new Map<string, bigint>();
  readonly frozen = new Set<string>();
  readonly holds: ModelHold[] = [];
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

  available(id: string): bigint {
    return this.balance(id) - (this.held.get(id) ?? 0n);
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
    if (this.available(from) < amountBase) return "insufficient_balance";
    if (this.balance(to) + amountBase > MAX) return "amount_too_large";
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
    if (liabilitiesMaxBase !== null && owed + amountBase > liabilitiesMaxBase) return "insufficient_reserves";
    if (owed + amountBase > MAX) return "amount_too_large";
    this.add(reserve, -amountBase);
    this.add(to, amountBase);
    return "posted";
  }

  setAside(command: LedgerCommand & { kind: "hold" }): string {
    const { accountId, amountBase, currency, expiresAt } = command;
    if (amountBase <= 0n) return "invalid_amount";
    if (expiresAt.getTime() <= this.now) return "hold_expired";
    const problem = this.problem(accountId, currency);
    if (problem) return problem;
    if (this.available(accountId) < amountBase) return "insufficient_balance";
    this.held.set(accountId, (this.held.get(accountId) ?? 0n) + amountBase);
    return "posted";
  }

  settle(command: LedgerCommand & { kind: "post" | "void" | "expire" }): string {
    const hold = this.holds.find(({ id }) => id === command.holdId);
    if (!hold) return "unknown_hold";
    if (!hold.open) return "hold_settled";
    if (command.kind === "expire" && hold.expires > this.now) return "hold_not_expired";
    const rest = (this.held.get(hold.account) ?? 0n) - hold.amount;
    if (command.kind === "post") {
      if (hold.expires <= this.now) return "hold_expired";
      const amountBase = command.amountBase ?? hold.amount;
      if (amountBase > hold.amount) return "amount_above_hold";
      const row = { from: hold.account, to: command.to, amountBase, currency: this.currencies.get(hold.account) ?? "" };
      const problem = this.rowProblem(row);
      if (problem) return problem;
      this.held.set(hold.account, rest);
      const refused = this.move(row);
      if (refused) {
        this.held.set(hold.account, rest + hold.amount);
        return refused;
      }
    }
    this.held.set(hold.account, rest);
    hold.open = false;
    return "posted";
  }

  reverse(transactionId: string): string {
    const original = this.transactions.find(({ id }) => id === transactionId);
    if (!original) return "unknown_transaction";
    if (original.kind === "reverse" || original.moves.length === 0) return "not_reversible";
    if (original.reversed) return "already_reversed";
    const after = new Map(this.balances);
    const change = (id: string, amount: bigint): bigint => {
      after.set(id, (after.get(id) ?? 0n) + amount);
      return after.get(id) ?? 0n;
    };
    for (const [id, amount] of original.moves) if (amount < 0n && change(id, -amount) > MAX) return "amount_too_large";
    for (const [id, amount] of original.moves) if (amount > 0n) change(id, -amount);
    for (const [id, amount] of original.moves) {
      const left = (after.get(id) ?? 0n) - (this.held.get(id) ?? 0n);
      if (amount > 0n && this.currencies.has(id) && left < 0n) return "insufficient_balance";
    }
    this.balances = after;
    original.reversed = true;
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
      case "hold":
        return this.setAside(command);
      case "post":
      case "void":
      case "expire":
        return this.settle(command);
      case "reverse":
        return this.reverse(command.transactionId);
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
    this.transactions.push({ id, kind: command.kind, moves: result === "posted" ? moves : [], reversed: false });
    if (command.kind === "hold" && result === "posted")
      this.holds.push({
        id: id.replace("ltx_", "hld_"),
        account: command.accountId,
        amount: command.amountBase,
        expires: command.expiresAt.getTime(),
        open: true,
      });
    return result;
  }

  movesSince(command: LedgerCommand, before: ReadonlyMap<string, bigint>): (readonly [string, bigint])[] {
    // A batch may credit and debit one account: its rows count, not what remains of them.
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

const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(list.length, 1)];

/** Commands that turn the numbers of steps into money: mostly possible, sometimes not. */
class Decoder {
  private readonly sent: LedgerCommand[] = [];
  private count = 0;

  constructor(
    private readonly ledger: LedgerUnderTest,
    private readonly model: Model,
  ) {}

  private amount(value: number): bigint {
    // Now and then nothing, and now and then more than can be stored.
    return value === AMOUNT_MAX ? MAX : BigInt(Math.max(value - 2, 0));
  }

  private row(a: number, b: number, amount: number): TransferRow {
    const from = pick(this.ledger.accounts, a);
    const to = pick(this.ledger.accounts, b);
    const unknown = a === PICK ? "ga_00000000-0000-7000-8000-000000000000" : "nonsense";
    return {
      from: from?.id ?? "",
      to: b === PICK ? unknown : (to?.id ?? ""),
      amountBase: this.amount(amount),
      currency: (a % 37 === 0 ? to?.currency : from?.currency) ?? "",
    };
  }

  private fresh(op: number, a: number, b: number, amount: number): LedgerCommand {
    const { projectId } = this.ledger;
    this.count += 1;
    const common = { projectId, key: `k${String(this.count)}`, by: "model" };
    const row = this.row(a, b, amount);
    const hold = pick(this.model.holds, a)?.id ?? "hld_00000000-0000-7000-8000-000000000000";
    if (op < 20) return { ...common, kind: "fund", ...this.funding(row, amount, a), amountBase: row.amountBase * 4n };
    if (op < 45) return { ...common, kind: "transfer", ...row };
    if (op < 55) {
      const rows = [row, this.row(a, b + 1, amount), this.row(b, a, amount >> 1), this.row(b + 1, a, 3)];
      return { ...common, kind: "batch", rows: rows.slice(0, 1 + (amount % 4)) };
    }
    if (op < 68)
      return {
        ...common,
        kind: "hold",
        accountId: row.from,
        amountBase: row.amountBase,
        currency: row.currency,
        expiresAt: new Date(this.model.now + (b % 60) * 1000),
      };
    if (op < 78)
      return { ...common, kind: "post", holdId: hold, to: row.to, amountBase: b % 2 === 0 ? null : row.amountBase };
    if (op < 82) return { ...common, kind: "void", holdId: hold };
    if (op < 87) return { ...common, kind: "expire", holdId: hold };
    const original = pick(this.model.transactions, a * 7 + b)?.id ?? "ltx_none";
    return { ...common, kind: "reverse", transactionId: original };
  }

  private funding(row: TransferRow, amount: number, a: number) {
    const liabilitiesMaxBase = amount % 3 === 0 ? null : BigInt(a) * 4n;
    return { to: row.to, currency: this.currencyOf(row.to, a), liabilitiesMaxBase };
  }

  private currencyOf(account: string, a: number): string {
    const own = this.ledger.accounts.find(({ id }) => id === account)?.currency ?? "usdc";
    return a % 41 === 0 ? "eth" : own;
  }

  command([op, a, b, amount]: Step): LedgerCommand {
    const earlier = pick(this.sent, a);
    if (op >= 97 && earlier) {
      // The same key again: as it was, or for something else.
      return op === 97 && "amountBase" in earlier && earlier.amountBase !== null
        ? { ...earlier, amountBase: earlier.amountBase + 1n }
        : earlier;
    }
    const command = this.fresh(Math.min(op, 96), a, b, amount);
    this.sent.push(command);
    return command;
  }
}

const codeOf = (outcome: Outcome): string => (outcome.posted ? "posted" : outcome.rejection.code);

/** Which of two limits a batch meets first depends on how its rows are put together; that it meets one does not. */
const comparable = (command: LedgerCommand, code: string): string =>
  command.kind === "batch" && code === "amount_too_large" ? "insufficient_balance" : code;

const fail = (message: string): never => {
  throw new Error(message);
};

/** Runs steps in groups through the ledger and the model, and compares every answer and, at the end, every balance. */
export const runAgainstModel = async (
  ledger: LedgerUnderTest,
  steps: readonly Step[],
  groupMax: number,
): Promise<void> => {
  const model = new Model(ledger.projectId, new Map(ledger.accounts.map(({ id, currency }) => [id, currency])));
  const decoder = new Decoder(ledger, model);
  for (let at = 0; at < steps.length;) {
    const [, a = 0, b = 0, amount = 0] = steps[at] ?? [];
    const group = steps.slice(at, at + 1 + (a % groupMax));
    at += group.length;
    model.now += (amount % 8) * 1000;
    ledger.setTime(new Date(model.now));
    const account = pick(ledger.accounts, a);
    if (b % 25 === 0 && account) {
      const frozen = !model.frozen.delete(account.id);
      if (frozen) model.frozen.add(account.id);
      await ledger.setStatus(account.id, frozen ? "frozen" : "active");
    }
    const commands = group.map((step) => decoder.command(step));
    const outcomes = await ledger.post(commands);
    commands.forEach((command, index) => {
      const outcome = outcomes[index] ?? fail("There is an answer too few.");
      const expected = model.answer(command, outcome.transactionId);
      if (comparable(command, codeOf(outcome)) !== comparable(command, expected))
        fail(`${command.kind} ${command.key}: the model says ${expected}, the ledger ${codeOf(outcome)}.`);
    });
  }
  const balances = await ledger.read();
  for (const [id, { balance, held }] of balances) {
    if (balance !== model.balance(id))
      fail(`${id}: ${String(balance)} is not the model's ${String(model.balance(id))}.`);
    if (held !== (model.held.get(id) ?? 0n)) fail(`${id}: held ${String(held)} is not the model's.`);
  }
};
