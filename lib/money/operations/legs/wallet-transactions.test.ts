import { describe, expect, test } from "vitest";
import type { SeenTransaction } from "@/lib/chain/smart-accounts/service";
import type { LegChange } from "@/lib/money/operations/leg";
import { submitted } from "./submitted";
import type { Step } from "./step";

const WALLET = "0x1111111111111111111111111111111111111111";
const TO = "0x2222222222222222222222222222222222222222";
const HASH = `0x${"aa".repeat(32)}` as const;
const OTHER = `0x${"bb".repeat(32)}` as const;
const HALF_AN_HOUR_MS = 31 * 60_000;

type Found = SeenTransaction | null | "unknown";

interface Scenario {
  /** The nonce that is stored for the transaction. */
  readonly nonce: number | null;
  /** The transaction that a node returns for the hash. */
  readonly seen?: SeenTransaction | null;
  /** The account's next nonce at the final block. */
  readonly deepNonce: number;
  readonly byNonce?: Readonly<Record<number, Found>>;
  /** Hashes that belong to another leg with the same calls. */
  readonly taken?: readonly string[];
  /** Time since the leg was accepted; half an hour by default. */
  readonly afterMs?: number;
}

const transaction = (change: Partial<SeenTransaction> = {}): SeenTransaction => ({
  hash: HASH,
  from: WALLET,
  to: TO,
  data: "0x",
  value: 5n,
  nonce: 7,
  blockNumber: 90n,
  ...change,
});

/** Runs one step of a leg that a wallet sends by itself. The search for nonces starts at 7. */
const stepIn = async ({
  nonce,
  seen = null,
  deepNonce,
  byNonce = {},
  taken = [],
  afterMs = HALF_AN_HOUR_MS,
}: Scenario) => {
  const asked: string[] = [];
  const stored: LegChange[] = [];
  const moves: { to: string; change: LegChange }[] = [];
  const sent = { actionId: "a", to: TO, data: "0x", value: 5n, hash: HASH, nonce };
  const step = {
    leg: {
      id: "leg_1",
      via: "transaction",
      version: 1,
      sourceChainId: 1,
      walletAddress: WALLET,
      fromBlock: 0n,
      validUntil: null,
      walletTransactions: { transactions: [sent], fromNonce: 7 },
    },
    operation: { acceptedAt: new Date(0), createdAt: new Date(0) },
    clock: { now: () => new Date(afterMs) },
    chains: {
      finalNumber: () => Promise.resolve(99n),
    },
    smartAccounts: {
      sent: {
        count: () => Promise.resolve(deepNonce),
        find: () => Promise.resolve(seen),
        findByNonce: (_: number, sought: { nonce: number }) =>
          Promise.resolve(byNonce[sought.nonce] ?? null),
        receipt: (_: number, hash: string) => {
          asked.push(hash);
          return Promise.resolve(null);
        },
        agreedReceipt: () => Promise.resolve(null),
      },
    },
    legs: {
      adoptTransaction: ({ hash }: { hash: string }) => Promise.resolve(!taken.includes(hash)),
      touchLeg: (_: unknown, change: LegChange) => {
        stored.push(change);
        return Promise.resolve(true);
      },
      moveLeg: (move: { to: string; change: LegChange }) => {
        moves.push(move);
        return Promise.resolve(true);
      },
    },
  };
  const result = await submitted(step as unknown as Step);
  return {
    result,
    asked,
    stored: stored[0]?.walletTransactions,
    failure: moves[0]?.change.failure,
  };
};

const storedAs = (change: object) => ({
  transactions: [expect.objectContaining(change)],
  fromNonce: 7,
});

describe("a transaction of which only the hash is known", () => {
  test("is compared with what was prepared before its receipt counts", async () => {
    const same = await stepIn({ nonce: null, seen: transaction(), deepNonce: 8 });
    expect(same.stored).toEqual(storedAs({ hash: HASH, nonce: 7 }));
    expect(same.asked).toEqual([]);
    const different = await stepIn({
      nonce: null,
      seen: transaction({ value: 6n }),
      deepNonce: 8,
    });
    expect(different.asked).toEqual([]);
  });

  test.each([
    ["another transaction", transaction({ value: 6n })],
    ["an older one like it", transaction({ nonce: 6 })],
  ])("says nothing of what was asked for when it is the hash of %s", async (_, named) => {
    const world = { nonce: null, seen: named, deepNonce: 9 };
    expect(await stepIn({ ...world, afterMs: 60_000 })).toMatchObject({
      result: "waits",
      failure: undefined,
    });
    const { asked, failure } = await stepIn(world);
    expect(asked).toEqual([]);
    expect(failure).toMatchObject({
      code: "not_sent",
      message: expect.stringContaining("belongs to another transaction") as string,
      retryable: false,
    });
    // The requested transaction is found under another hash when the wallet has sent it.
    const { stored } = await stepIn({
      ...world,
      byNonce: { 8: transaction({ hash: OTHER, nonce: 8 }) },
    });
    expect(stored).toEqual(storedAs({ hash: OTHER, nonce: 8 }));
  });

  test("gets its nonce also from the block that holds it, where the node does not find the hash", async () => {
    const { stored } = await stepIn({
      nonce: null,
      deepNonce: 8,
      byNonce: { 7: transaction() },
    });
    expect(stored).toEqual(storedAs({ hash: HASH, nonce: 7 }));
  });

  test("that never showed may not be tried again: it could still be mined", async () => {
    const { failure } = await stepIn({
      nonce: null,
      deepNonce: 8,
      byNonce: { 7: transaction({ value: 6n }) },
    });
    expect(failure).toMatchObject({
      retryable: false,
      message: expect.stringContaining("No node has seen") as string,
    });
  });

  test("is lost, and not unseen, where a nonce that the wallet used cannot be looked at", async () => {
    const lost = {
      retryable: false,
      message: expect.stringContaining("can no longer be told") as string,
    };
    expect(
      (await stepIn({ nonce: null, deepNonce: 9, byNonce: { 7: "unknown" } })).failure,
    ).toMatchObject(lost);
    expect((await stepIn({ nonce: null, deepNonce: 60 })).failure).toMatchObject(lost);
    // A transaction found under another nonce is accepted as the leg's.
    const found = { 7: "unknown", 8: transaction({ hash: OTHER, nonce: 8 }) } as const;
    const { stored } = await stepIn({ nonce: null, deepNonce: 9, byNonce: found });
    expect(stored).toEqual(storedAs({ hash: OTHER, nonce: 8 }));
  });
});

describe("a transaction whose like counts for another leg", () => {
  const like = { deepNonce: 8, byNonce: { 7: transaction({ hash: OTHER }) }, taken: [OTHER] };

  test.each([7, null])(
    "is lost, and may not be tried again: it may be that one (nonce %s)",
    async (nonce) => {
      expect((await stepIn({ ...like, nonce })).failure).toMatchObject({
        code: "not_sent",
        message: expect.stringContaining("may have moved the money") as string,
        retryable: false,
      });
    },
  );

  test("is looked for beyond that one", async () => {
    const own = `0x${"cc".repeat(32)}` as const;
    const byNonce = { ...like.byNonce, 8: transaction({ hash: own, nonce: 8 }) };
    const { stored } = await stepIn({ ...like, nonce: null, deepNonce: 9, byNonce });
    expect(stored).toEqual(storedAs({ hash: own, nonce: 8 }));
  });
});

describe("a transaction that a node still shows as pending after its nonce was used", () => {
  const pending = transaction({ blockNumber: null });

  test("was replaced: by the same at a higher fee, or by something else", async () => {
    const same = await stepIn({
      nonce: 7,
      seen: pending,
      deepNonce: 8,
      byNonce: { 7: transaction({ hash: OTHER }) },
    });
    expect(same.stored).toEqual(storedAs({ hash: OTHER, nonce: 7 }));
    const other = transaction({ hash: OTHER, value: 0n, to: WALLET });
    const different = await stepIn({
      nonce: 7,
      seen: pending,
      deepNonce: 8,
      byNonce: { 7: other },
    });
    expect(different.failure).toMatchObject({ code: "not_sent", retryable: true });
  });

  test("is waited for as long as its nonce is free", async () => {
    expect(await stepIn({ nonce: 7, seen: pending, deepNonce: 7 })).toMatchObject({
      result: "waits",
      failure: undefined,
    });
  });
});
