/**
 * Compares a ledger with the model: creates commands from random steps, posts them to both and
 * compares the answers.
 */
import fc from "fast-check";
import type { LedgerCommand, TransferRow } from "@/lib/books/ledger/commands";
import type { AccountStatus, Outcome } from "@/lib/books/ledger/snapshot";
import { LedgerModel, STORED_MAX } from "./ledger-model";

/** A ledger under test: the pure core, or the service over PostgreSQL. */
export interface LedgerUnderTest {
  readonly projectId: string;
  /** Customers' accounts; accounts of the same currency are adjacent. */
  readonly accounts: readonly { readonly id: string; readonly currency: string }[];
  /**
   * Posts the commands without waiting between them. The ledger must process them in this order.
   * Returns one outcome for each command.
   */
  post(commands: readonly LedgerCommand[]): Promise<readonly Outcome[]> | readonly Outcome[];
  setStatus(accountId: string, status: AccountStatus): Promise<void> | void;
  setTime(now: Date): void;
  /** Balance of every account, by id. */
  read(): Promise<Map<string, { balance: bigint }>> | Map<string, { balance: bigint }>;
}

/**
 * A step as numbers. `Decoder` turns it into a command once the existing transactions are known.
 */
type Step = readonly [op: number, a: number, b: number, amount: number];

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

const pick = <T>(list: readonly T[], at: number): T | undefined =>
  list[at % Math.max(list.length, 1)];

/** Turns the numbers of steps into commands that are mostly possible, but not always. */
class Decoder {
  private readonly sent: LedgerCommand[] = [];
  private count = 0;

  constructor(
    private readonly ledger: LedgerUnderTest,
    private readonly model: LedgerModel,
  ) {}

  private amount(value: number): bigint {
    // Sometimes zero, and sometimes more than can be stored.
    return value === AMOUNT_MAX ? STORED_MAX : BigInt(Math.max(value - 2, 0));
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
    if (op < 30)
      return {
        ...common,
        kind: "fund",
        ...this.funding(row, amount, a),
        amountBase: row.amountBase * 4n,
      };
    if (op < 55) return { ...common, kind: "transfer", ...row };
    const { from, to, amountBase, currency } = row;
    if (op < 60) return { ...common, kind: "withdraw", from, amountBase, currency };
    if (op < 65)
      return {
        ...common,
        kind: "settle",
        to,
        paidBase: amountBase >> 1n,
        returnedBase: BigInt(b % 4),
        currency,
      };
    if (op < 85) {
      const rows = [
        row,
        this.row(a, b + 1, amount),
        this.row(b, a, amount >> 1),
        this.row(b + 1, a, 3),
      ];
      return { ...common, kind: "batch", rows: rows.slice(0, 1 + (amount % 4)) };
    }
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
      // Uses the key of an earlier command again, with the same or a different request.
      return op === 97 && "amountBase" in earlier
        ? { ...earlier, amountBase: earlier.amountBase + 1n }
        : earlier;
    }
    const command = this.fresh(Math.min(op, 96), a, b, amount);
    this.sent.push(command);
    return command;
  }
}

const codeOf = (outcome: Outcome): string =>
  outcome.posted ? "posted" : outcome.rejection.code;

/**
 * A batch can exceed two limits. The grouping of its rows decides which limit it exceeds first, so
 * both codes count as equal.
 */
const comparable = (command: LedgerCommand, code: string): string =>
  command.kind === "batch" && code === "amount_too_large" ? "insufficient_balance" : code;

const fail = (message: string): never => {
  throw new Error(message);
};

/**
 * Runs groups of steps through the ledger and the model, and compares every answer and the final
 * balances.
 */
export const runAgainstModel = async (
  ledger: LedgerUnderTest,
  steps: readonly Step[],
  groupMax: number,
): Promise<void> => {
  const model = new LedgerModel(
    ledger.projectId,
    new Map(ledger.accounts.map(({ id, currency }) => [id, currency])),
  );
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
        fail(
          `${command.kind} ${command.key}: the model says ${expected}, the ledger ${codeOf(outcome)}.`,
        );
    });
  }
  const balances = await ledger.read();
  for (const [id, { balance }] of balances) {
    if (balance !== model.balance(id))
      fail(`${id}: ${String(balance)} is not the model's ${String(model.balance(id))}.`);
  }
};
