import { describe, expect, test } from "vitest";
import { DomainError } from "@/lib/core/errors";
import { PreVerificationGasTooLowError, WaitsForTurnError } from "@/lib/chain/ports/bundler";
import type { Failure } from "@/lib/money/operations/rows";
import type { Step } from "./step";
import { submitted } from "./submitted";

const ACCOUNT = "0x1111111111111111111111111111111111111111";
const HEAD = { number: 100n, timestamp: 10_000n };
/** The newest block that is three confirmations deep. */
const FINAL = { number: 98n, timestamp: 9_998n };

const OPERATION = {
  ...{
    sender: ACCOUNT,
    nonce: 1n,
    callData: "0x",
    signature: "0x",
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
  },
  ...{ callGasLimit: 1n, verificationGasLimit: 1n, preVerificationGas: 1n },
};

interface Scenario {
  /** The block from which on the leg's nonce is used; null: it is not used. */
  readonly usedFrom?: bigint | null;
  /** True: the second request for the receipt of the leg's operation finds it. */
  readonly isMined?: boolean;
  /** In Unix seconds. */
  readonly validUntil?: number;
  readonly isManaged?: boolean;
  readonly submittedAt?: Map<string, number>;
  /** The bundler's answer to the operation. */
  readonly refusal?: Error;
  readonly earlierUserOpHashes?: readonly string[];
  /** Whether the key has signed the stored operation as it is. */
  readonly bearsSignature?: boolean;
  /** The failure when its addresses may no longer be paid. */
  readonly stopped?: Failure;
  /**
   * The sponsor's fee for the operation that replaced the leg's operation; null when the chain does
   * not answer.
   */
  readonly sponsoredWei?: bigint | null;
  /** How many bundles with the leg's operation reverted, at 10 wei each. */
  readonly revertedBundles?: number;
  /** In Unix seconds. */
  readonly now?: number;
}

const silent = () => Promise.reject(new DomainError("chain_unavailable", "No answer."));

const signedAgain =
  (bearsSignature: boolean) =>
  (_: unknown, __: number, input: { operation: object; preVerificationGas: bigint }) => {
    const operation = { ...input.operation, preVerificationGas: input.preVerificationGas };
    return Promise.resolve(bearsSignature ? { operation, userOpHash: "0xbb" } : null);
  };

/** Mined bundles that contain the leg's operation. */
const carrying = (attempts: number) => ({
  bundleTransactionsOf: () =>
    Promise.resolve(
      new Map(
        attempts === 0 ? [] : [["0xaa", { attempts, transaction: { minedHash: "0xcc" } }]],
      ),
    ),
});

/** Runs one step of a leg whose operation is not mined yet. */
const stepIn = async ({
  usedFrom = null,
  isMined = false,
  validUntil = 9_000,
  isManaged = false,
  submittedAt = new Map(),
  refusal = new DomainError("simulation_failed", "It was executed before."),
  earlierUserOpHashes = [],
  bearsSignature = true,
  stopped,
  sponsoredWei = 0n,
  revertedBundles = 0,
  now = 1_000,
}: Scenario) => {
  const offers: unknown[] = [];
  const moves: {
    to: string;
    change: { failure?: Failure; gasCostWei?: bigint; gasPaidBy?: string };
  }[] = [];
  const replaced: unknown[] = [];
  const hashesAsked: string[] = [];
  const step = {
    leg: {
      id: "leg_1",
      via: "user_operation",
      sourceChainId: 1,
      walletId: "wal_1",
      executorWalletId: null,
      userOpHash: "0xaa",
      earlierUserOpHashes,
      fromBlock: 0n,
      validUntil: new Date(validUntil * 1000),
      sponsorReservedWei: 100n,
      userOperation: OPERATION,
    },
    operation: { projectId: "prj_1", gasWaits: [] },
    submittedAt,
    clock: { now: () => new Date(now * 1000) },
    chains: { head: () => Promise.resolve(HEAD), finalBlock: () => Promise.resolve(FINAL) },
    isSigningAllowed: () => Promise.resolve(true),
    screenAgain: () => Promise.resolve(stopped ?? null),
    managedAccount: () => Promise.resolve(isManaged ? { address: ACCOUNT } : null),
    bundles: carrying(revertedBundles),
    smartAccounts: {
      feeExcess: () => Promise.resolve(null),
      sent: { receipt: () => Promise.resolve({ success: false, costWei: 10n }) },
      signAgain: signedAgain(bearsSignature),
      receipt: (_: number, hash: string) => {
        hashesAsked.push(hash);
        // The content of the receipt does not matter here, because the next step reads it again.
        return Promise.resolve(isMined && hashesAsked.length > 1 ? {} : null);
      },
      wasExecuted: (_: number, __: string, ___: string, at: { blockNumber: bigint }) =>
        Promise.resolve(usedFrom !== null && at.blockNumber >= usedFrom),
      sponsoredGas: sponsoredWei === null ? silent : () => Promise.resolve(sponsoredWei),
      submit: (_: number, __: unknown, options: unknown) => {
        offers.push(options);
        return Promise.reject(refusal);
      },
    },
    legs: {
      moveLeg: (move: (typeof moves)[number]) => {
        moves.push(move);
        return Promise.resolve(true);
      },
      replaceOperation: (_: unknown, change: unknown) => {
        replaced.push(change);
        return Promise.resolve(true);
      },
    },
  };
  const result = await submitted(step as unknown as Step);
  const change = moves[0]?.change;
  const gas = [change?.gasCostWei, change?.gasPaidBy];
  return { result, offers, replaced, hashesAsked, failure: change?.failure, gas };
};

describe("an operation whose time is over", () => {
  test("can be tried again where its nonce is unused", async () => {
    expect((await stepIn({})).failure).toMatchObject({
      code: "source_expired",
      retryable: true,
    });
  });

  test("fails where its nonce was used at depth and it has no receipt: another one of the leg was executed", async () => {
    const { failure } = await stepIn({ usedFrom: 98n });
    expect(failure).toMatchObject({ code: "source_replaced", retryable: false });
    expect(failure?.message).toMatch(
      /may have moved the money: look at the account's history before you try again/,
    );
  });

  test("costs what the sponsor paid for the one that was executed in its place", async () => {
    expect((await stepIn({ usedFrom: 98n, sponsoredWei: 7n })).gas).toEqual([7n, "sponsor"]);
    expect((await stepIn({ usedFrom: 98n })).gas).toEqual([undefined, undefined]);
    expect((await stepIn({ sponsoredWei: 7n })).gas).toEqual([undefined, undefined]);
  });

  test("costs what its reverted bundles cost, because an owner outside of the service can make it invalid on purpose", async () => {
    expect((await stepIn({ revertedBundles: 2 })).gas).toEqual([20n, "sponsor"]);
    expect((await stepIn({ revertedBundles: 2, usedFrom: 98n, sponsoredWei: 7n })).gas).toEqual(
      [27n, "sponsor"],
    );
    // Operations of the service's own keys share bundles, and nobody outside can make them invalid.
    expect((await stepIn({ revertedBundles: 2, isManaged: true })).gas).toEqual([
      undefined,
      undefined,
    ]);
  });

  test("waits for that cost while the chain does not answer, ten minutes at most", async () => {
    const unknown = { usedFrom: 98n, sponsoredWei: null, validUntil: 9_000 };
    await expect(stepIn({ ...unknown, now: 9_599 })).rejects.toMatchObject({
      code: "chain_unavailable",
    });
    expect(await stepIn({ ...unknown, now: 9_600 })).toMatchObject({
      failure: { code: "source_replaced" },
      gas: [undefined, undefined],
    });
  });

  test("is waited for while what used its nonce could still be taken back, or when its own receipt shows", async () => {
    for (const world of [
      { usedFrom: 99n },
      { usedFrom: 98n, isMined: true },
      { isMined: true },
    ])
      expect(await stepIn(world)).toMatchObject({ result: "waits", failure: undefined });
  });

  test("is not given up before that is so on the chain, at depth", async () => {
    expect(await stepIn({ usedFrom: 1n, validUntil: 9_990 })).toMatchObject({
      result: "waits",
      failure: undefined,
    });
  });
});

describe("an operation whose recipient was listed after it was signed", () => {
  const stopped: Failure = {
    code: "screening_refused",
    message: "is listed by list:ofac version 2",
    retryable: false,
  };

  test("is not submitted, and fails with the list's name once it can no longer be executed", async () => {
    expect(await stepIn({ stopped, validUntil: 20_000 })).toMatchObject({
      result: "waits",
      offers: [],
    });
    expect((await stepIn({ stopped })).failure).toEqual(stopped);
  });

  test("fails as replaced all the same when the chain executed another one", async () => {
    expect((await stepIn({ stopped, usedFrom: 98n })).failure).toMatchObject({
      code: "source_replaced",
    });
  });
});

describe("an operation that can still be executed", () => {
  const open = { validUntil: 20_000 };

  test("is offered as one that somebody else holds too unless the service signed it", async () => {
    const validUntil = new Date(20_000_000);
    expect((await stepIn(open)).offers).toEqual([{ isHeldElsewhere: true, validUntil }]);
    expect((await stepIn({ ...open, isManaged: true })).offers).toEqual([
      { isHeldElsewhere: false, validUntil },
    ]);
  });

  test("is not offered again for a while, and what others were offered long ago is forgotten", async () => {
    const lately = new Map([["leg_1", 999_000]]);
    expect((await stepIn({ ...open, submittedAt: lately })).offers).toEqual([]);
    const long = new Map([
      ["leg_0", 900_000],
      ["leg_1", 990_000],
      ["leg_2", 999_000],
    ]);
    expect((await stepIn({ ...open, submittedAt: long })).offers).toHaveLength(1);
    expect([...long]).toEqual([
      ["leg_2", 999_000],
      ["leg_1", 1_000_000],
    ]);
  });

  test("is signed again with the gas that the bundler asks for, and both hashes are looked for from then on", async () => {
    const refusal = new PreVerificationGasTooLowError("Chain", 77n, null);
    const { replaced, result } = await stepIn({ ...open, isManaged: true, refusal });
    expect(result).toBe("moved");
    expect(replaced).toMatchObject([
      {
        userOpHash: "0xbb",
        earlierUserOpHashes: ["0xaa"],
        userOperation: { preVerificationGas: 77n, nonce: 1n },
      },
    ]);
    const later = await stepIn({ ...open, earlierUserOpHashes: ["0x01", "0x02"] });
    expect(later.hashesAsked).toEqual(["0xaa", "0x01", "0x02"]);
  });

  test("is not signed again when the stored operation is not what was signed", async () => {
    const refusal = new PreVerificationGasTooLowError("the bundler", 9n, null);
    const stepped = await stepIn({ ...open, isManaged: true, refusal, bearsSignature: false });
    expect(stepped).toMatchObject({ replaced: [], result: "waits" });
  });

  test("is not signed again for its owner, nor more than three times", async () => {
    const refusal = new PreVerificationGasTooLowError("Chain", 77n, null);
    expect((await stepIn({ ...open, refusal })).replaced).toEqual([]);
    const signedBefore = ["0x01", "0x02", "0x03"];
    const world = { ...open, isManaged: true, refusal, earlierUserOpHashes: signedBefore };
    expect((await stepIn(world)).replaced).toEqual([]);
  });

  test("that waits for earlier ones of its account is offered again at the next look", async () => {
    const submittedAt = new Map<string, number>();
    expect(
      await stepIn({ ...open, refusal: new WaitsForTurnError(), submittedAt }),
    ).toMatchObject({
      result: "waits",
    });
    expect([...submittedAt]).toEqual([]);
  });
});
