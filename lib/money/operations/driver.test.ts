import { describe, expect, test } from "vitest";
import { DomainError } from "@/lib/core/errors";
import { createOperationDriver, type DriverDeps } from "./driver";

const NOW = 1_000_000_000;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

interface Scenario {
  /** Time since each leg's last change. */
  readonly idleMs: readonly number[];
  readonly pollMs?: number;
  /** True: the chain does not answer. */
  readonly isDown?: boolean;
  /** The indexes of legs whose stored data the service cannot work with. */
  readonly broken?: readonly number[];
}

const token = {
  symbol: "A",
  name: "A",
  chainId: 1,
  address: "native",
  decimals: 18,
  assetId: "a",
  usdPegged: false,
};
const address = `0x${"11".repeat(20)}`;
const sent = { actionId: "a", to: address, data: "0x", value: 5n, hash: "0xaa", nonce: 7 };

/**
 * Drives an operation whose legs wait for a transaction that no node shows. Aborts the drive when
 * it keeps the operation for longer than expected.
 */
const driven = async ({ idleMs, pollMs = SECOND, isDown = false, broken = [] }: Scenario) => {
  let looks = 0;
  const controller = new AbortController();
  const legs = idleMs.map((ms, index) => ({
    id: `leg_${String(index)}`,
    state: "submitted",
    via: "transaction",
    sourceChainId: 1,
    destChainId: 1,
    walletAddress: address,
    fromBlock: 0n,
    validUntil: null,
    updatedAt: new Date(NOW - ms),
    // Reading the address throws, as a bug would.
    ...(broken.includes(index) ? { walletAddress: undefined } : {}),
    walletTransactions: broken.includes(index) ? null : { transactions: [sent], fromNonce: 7 },
    routeLeg: {
      sourceIndex: 0,
      kind: "transfer",
      expectedOutBase: 5n,
      minOutBase: 5n,
      steps: [],
      fees: [],
      estimatedSeconds: 1,
      priceImpactBps: 0,
      plan: null,
    },
  }));
  const operation = {
    id: "op_1",
    status: "processing",
    subStatus: "delayed",
    acceptedAt: new Date(NOW),
    legs,
    request: { sources: [], destination: { token, recipient: address }, slippageBps: 0 },
  };
  const answer = <T>(value: T): Promise<T> =>
    isDown
      ? Promise.reject(new DomainError("chain_unavailable", "No answer."))
      : Promise.resolve(value);
  const deps = {
    repository: {
      find: () => Promise.resolve(operation),
      findToDrive: () => Promise.resolve(operation),
    },
    // Legs that only wait are not written.
    legs: {},
    clock: { now: () => new Date(NOW) },
    chains: {
      head: () => answer({ number: 100n, timestamp: 1n }),
      finalNumber: () => answer(99n),
      finalBlock: () => answer({ number: 99n, timestamp: 1n }),
    },
    smartAccounts: {
      sent: {
        count: () => answer(7),
        find: () => answer(null),
        receipt: () => {
          looks += 1;
          // The drive has looked at the legs again instead of ending, so the test ends it.
          if (looks > legs.length) controller.abort();
          return answer(null);
        },
      },
    },
    pollIntervalMs: () => pollMs,
    log: { warn: () => undefined, error: () => undefined },
  };
  const result = await createOperationDriver(deps as unknown as DriverDeps).drive(
    "op_1",
    controller.signal,
  );
  return { result, hasStayed: looks > legs.length };
};

const again = (againInMs: number) => ({ result: { done: false, againInMs }, hasStayed: false });

describe("a worker", () => {
  test("stays with an operation of which something happened lately", async () => {
    expect((await driven({ idleMs: [4 * SECOND], pollMs: 50 })).hasStayed).toBe(true);
    expect((await driven({ idleMs: [10 * MINUTE, SECOND], pollMs: 50 })).hasStayed).toBe(true);
  });

  test("looks once at one that has only waited for a while, and lets go", async () => {
    expect(await driven({ idleMs: [6 * SECOND], pollMs: 50 })).toEqual(again(100));
    expect(await driven({ idleMs: [10 * MINUTE, 6 * SECOND] })).toEqual(again(SECOND));
  });

  test("lets go at once where chains are asked seldom", async () => {
    expect(await driven({ idleMs: [SECOND], pollMs: 4 * SECOND })).toEqual(again(4 * SECOND));
  });
});

describe("a leg that waits is asked about less and less often, whoever asks", () => {
  test.each([
    [MINUTE, SECOND],
    [10 * MINUTE, 7 * SECOND],
    [24 * 60 * MINUTE, 20 * SECOND],
  ])("after %s ms every %s ms", async (idleMs, againInMs) => {
    expect(await driven({ idleMs: [idleMs] })).toEqual(again(againInMs));
  });

  test("also where the chain does not answer", async () => {
    expect(await driven({ idleMs: [10 * SECOND + 1], isDown: true })).toEqual(again(2501));
    expect(await driven({ idleMs: [10 * MINUTE], isDown: true })).toEqual(again(15 * SECOND));
  });
});

describe("an operation whose legs end in errors that no outage explains", () => {
  test("counts as a failed turn, so that its job backs off and is parked in the end", async () => {
    const { result } = await driven({ idleMs: [MINUTE, MINUTE], broken: [0, 1] });
    expect(result).toMatchObject({ done: false, failure: expect.any(String) as unknown });
  });

  test("goes on for the sake of a leg that only waits, or that an outage holds up", async () => {
    expect((await driven({ idleMs: [MINUTE, MINUTE], broken: [0] })).result).not.toHaveProperty(
      "failure",
    );
    expect(
      (await driven({ idleMs: [MINUTE, MINUTE], broken: [0], isDown: true })).result,
    ).not.toHaveProperty("failure");
  });
});

test("a drive that noted a wait for a lower network fee ends it itself when the fee falls", async () => {
  const controller = new AbortController();
  const ended: number[] = [];
  let looks = 0;
  let gasWaits: object[] = [];
  const leg = {
    id: "leg_0",
    state: "submitted",
    via: "user_operation",
    sourceChainId: 1,
    destChainId: 1,
    executorWalletId: null,
    userOpHash: "0xaa",
    earlierUserOpHashes: [],
    userOperation: {},
    validUntil: null,
    fromBlock: 0n,
    updatedAt: new Date(NOW),
  };
  const stored = {
    id: "op_1",
    status: "processing",
    subStatus: "delayed",
    legs: [leg],
    request: {},
  };
  const deps = {
    repository: {
      find: () => Promise.resolve({ ...stored, gasWaits }),
      findToDrive: () => Promise.resolve({ ...stored, gasWaits }),
    },
    legs: {},
    gasWaits: {
      note: (_: unknown, chainId: number) => {
        gasWaits = [{ chainId }];
        return Promise.resolve();
      },
      end: (_: unknown, chainId: number) => {
        ended.push(chainId);
        gasWaits = [];
        return Promise.resolve();
      },
    },
    clock: { now: () => new Date(NOW) },
    screenAgain: () => Promise.resolve(null),
    managedAccount: () => Promise.resolve(null),
    smartAccounts: {
      receipt: () => Promise.resolve(null),
      feeExcess: () =>
        Promise.resolve((looks += 1) === 1 ? { pricePerGas: 2n, capPerGas: 1n } : null),
      submit: () => {
        controller.abort();
        return Promise.resolve();
      },
    },
    pollIntervalMs: () => 50,
    log: { warn: () => undefined, error: () => undefined },
  };
  await createOperationDriver(deps as unknown as DriverDeps).drive("op_1", controller.signal);
  expect(ended).toEqual([1]);
});
