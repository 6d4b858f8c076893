import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import {
  runAgainstModel,
  stepsArbitrary,
  type LedgerUnderTest,
} from "@/lib/dev/testing/ledger-model-run";
import { digestOf, keyHashOf, scopeOf, systemAccountId, type LedgerCommand } from "./commands";
import { decide, type Decision } from "./decide";
import { emptySnapshot, type Account, type Entry, type Snapshot } from "./snapshot";

const RUNS = 1_000;
const COMMANDS = 200;
const PROJECT = "prj_00000000-0000-7000-8000-000000000001";
const SEED = Date.now() % 2 ** 31;

const account = (
  id: string,
  currency: string,
  kind: Account["kind"] = "customer",
): Account => ({
  id,
  projectId: PROJECT,
  currency,
  kind,
  status: "active",
  minimum: kind === "treasury_reserve" ? null : 0n,
  balance: 0n,
  version: 0n,
  lastSeq: 0n,
  updatedAt: 0,
});

const execute = (snapshot: Snapshot, command: LedgerCommand, now: Date): Decision =>
  decide(snapshot, command, {
    now,
    transactionId: newId("ledgerTransaction"),
    keyHash: keyHashOf(command.projectId, scopeOf(command), command.key),
    digest: digestOf(command),
  });

/** Invariants of the entries after any sequence of commands. */
const checkEntries = (snapshot: Snapshot, entries: readonly Entry[]): void => {
  const sums = new Map<string, bigint>();
  const last = new Map<string, Entry>();
  for (const entry of entries) {
    for (const key of [entry.currency, entry.transactionId])
      sums.set(key, (sums.get(key) ?? 0n) + entry.amountBase);
    const before = last.get(entry.accountId);
    if (entry.seq !== (before?.seq ?? 0n) + 1n)
      throw new Error(`gap before entry ${String(entry.seq)}`);
    if (entry.balanceAfterBase !== (before?.balanceAfterBase ?? 0n) + entry.amountBase)
      throw new Error("broken chain");
    const { minimum } = snapshot.accounts.get(entry.accountId) ?? fail();
    if (minimum !== null && entry.balanceAfterBase < minimum)
      throw new Error("below the minimum");
    last.set(entry.accountId, entry);
  }
  for (const [what, sum] of sums)
    if (sum !== 0n) throw new Error(`${what} sums to ${String(sum)}`);
};

const fail = (): never => {
  throw new Error("unknown account");
};

const coreUnderTest = (): { ledger: LedgerUnderTest; snapshot: Snapshot; entries: Entry[] } => {
  const snapshot = emptySnapshot();
  const entries: Entry[] = [];
  let now = new Date(0);
  const accounts = ["usdc", "usdc", "usdc", "usdc", "usdc", "eth", "eth"].map((currency) => ({
    id: newId("globalAccount"),
    currency,
  }));
  for (const { id, currency } of accounts) snapshot.accounts.set(id, account(id, currency));
  for (const currency of ["usdc", "eth"]) {
    for (const kind of ["treasury_reserve", "withdrawal_transit"] as const) {
      const id = systemAccountId(PROJECT, currency, kind);
      snapshot.accounts.set(id, account(id, currency, kind));
    }
  }
  const ledger: LedgerUnderTest = {
    projectId: PROJECT,
    accounts,
    setTime: (time) => (now = time),
    setStatus: (id, status) =>
      void snapshot.accounts.set(id, { ...(snapshot.accounts.get(id) ?? fail()), status }),
    post: (commands) =>
      commands.map((command) => {
        const { outcome, effects } = execute(snapshot, command, now);
        entries.push(...(effects?.entries ?? []));
        return outcome;
      }),
    read: () => snapshot.accounts,
  };
  return { ledger, snapshot, entries };
};

describe("deciding", () => {
  test(
    `${String(RUNS)} histories of ${String(COMMANDS)} commands (fund, pay, reverse, repeat) go as a simple model says`,
    { timeout: 120_000 },
    async () => {
      console.log(`Ledger model: seed ${String(SEED)}`);
      const answers = new Set<string>();
      await fc.assert(
        fc.asyncProperty(stepsArbitrary(COMMANDS), async (steps) => {
          const { ledger, snapshot, entries } = coreUnderTest();
          await runAgainstModel(ledger, steps, 1);
          checkEntries(snapshot, entries);
          for (const { rejection } of snapshot.answers.values())
            answers.add(rejection?.code ?? "posted");
        }),
        { numRuns: RUNS, seed: SEED },
      );
      // The generated histories must produce every kind of answer.
      expect([...answers].sort()).toEqual([
        "account_frozen",
        "already_reversed",
        "amount_too_large",
        "insufficient_balance",
        "insufficient_reserves",
        "invalid_amount",
        "invalid_rows",
        "not_reversible",
        "posted",
        "same_account",
        "unknown_account",
        "unknown_transaction",
        "wrong_currency",
      ]);
    },
  );

  test("an account of another project is answered like one that does not exist", () => {
    const { ledger, snapshot } = coreUnderTest();
    const [first, second] = ledger.accounts;
    const command: LedgerCommand = {
      kind: "transfer",
      projectId: "prj_00000000-0000-7000-8000-000000000002",
      key: "k",
      by: "test",
      from: first?.id ?? "",
      to: second?.id ?? "",
      amountBase: 1n,
      currency: "usdc",
    };
    const { outcome } = execute(snapshot, command, new Date());
    expect(outcome).toMatchObject({ posted: false, rejection: { code: "unknown_account" } });
  });

  test.each(["frozen", "closed"] as const)(
    "no reversal takes money out of a %s account",
    async (status) => {
      const { ledger, snapshot } = coreUnderTest();
      const id = ledger.accounts[0]?.id ?? "";
      const [transactionId, common] = [
        newId("ledgerTransaction"),
        { projectId: PROJECT, by: "test" },
      ];
      const reserve = systemAccountId(PROJECT, "usdc", "treasury_reserve");
      const entries = [
        { accountId: reserve, amountBase: -5n },
        { accountId: id, amountBase: 5n },
      ];
      snapshot.sourceTransactions.set(transactionId, {
        id: transactionId,
        projectId: PROJECT,
        kind: "fund",
        entries,
        reversed: false,
      });
      snapshot.accounts.set(id, { ...account(id, "usdc"), balance: 5n, status });
      const reverse = (key: string) =>
        execute(
          snapshot,
          { ...common, kind: "reverse", scope: "reverse", key, transactionId },
          new Date(),
        );
      const refused = reverse("first");
      expect(refused.outcome).toMatchObject({
        posted: false,
        rejection: { code: "account_frozen", accountId: id },
      });
      expect(snapshot.accounts.get(id)?.balance).toBe(5n);
      await ledger.setStatus(id, "active");
      expect(reverse("second").outcome).toMatchObject({ posted: true });
    },
  );
});
