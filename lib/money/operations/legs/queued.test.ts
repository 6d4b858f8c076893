import { expect, test } from "vitest";
import { queued } from "./queued";
import type { Step } from "./step";

const TREASURY = "0x1111111111111111111111111111111111111111";
const OWNER = "0x2222222222222222222222222222222222222222";
const TOKEN = "0x3333333333333333333333333333333333333333";
const RECIPIENT = "0x4444444444444444444444444444444444444444";
const PERMIT2 = "0x5555555555555555555555555555555555555555";
const SIGNATURE = `0x${"11".repeat(64)}1b`;

/** Permit2's state for the permit. Without it the permit is the token's own (EIP-2612). */
interface ForPermit2 {
  readonly obstacle: string | null;
}

/**
 * Steps a permit leg that the treasury is about to sign. `treasuryChange` is the change of the
 * treasury's balance that the simulation reports.
 */
const signedWith = async (kind: string, treasuryChange: bigint, forPermit2?: ForPermit2) => {
  const moves: { to: string; change: { failure?: unknown } }[] = [];
  const simulated: { calls: readonly { to: string }[] }[] = [];
  const now = new Date(1_000_000);
  const permit = {
    token: TOKEN,
    owner: OWNER,
    spender: TREASURY,
    value: 5n,
    nonce: 0n,
    deadline: 9999n,
    signature: SIGNATURE,
    ...(forPermit2 === undefined
      ? { standard: "eip2612" }
      : { standard: "permit2", permit2: PERMIT2 }),
  };
  const gas = {
    callGasLimit: 1n,
    verificationGasLimit: 1n,
    preVerificationGas: 1n,
    paymasterVerificationGasLimit: 1n,
    paymasterPostOpGasLimit: 1n,
  };
  const call = { to: RECIPIENT, data: "0x", value: 0n };
  const step = {
    leg: {
      id: "leg_1",
      via: "permit",
      sourceChainId: 1,
      amountBase: 5n,
      executorWalletId: "w",
      permit,
      gas,
    },
    operation: { projectId: "p", acceptedAt: now, createdAt: now, gasWaits: [] },
    request: {
      sources: [
        {
          owner: OWNER,
          token: { address: TOKEN, symbol: "ODD", chainId: 1, decimals: 0 },
          amountBase: 5n,
        },
      ],
      destination: { recipient: RECIPIENT },
    },
    routeLeg: { kind, sourceIndex: 0 },
    clock: { now: () => now },
    managedAccount: () => Promise.resolve({ address: TREASURY }),
    isSigningAllowed: () => Promise.resolve(true),
    lostMoves: {
      hasPaid: () => Promise.resolve(false),
      requireUnpaid: () => Promise.resolve(),
    },
    screenAgain: () => Promise.resolve(null),
    routing: { build: () => Promise.resolve({ calls: [call], fillDeadline: null }) },
    chains: {
      head: () => Promise.resolve({ number: 100n, timestamp: 1000n }),
      blockTimeMs: () => 1000,
    },
    smartAccounts: {
      feeExcess: () => Promise.resolve(null),
      isDeployed: () => Promise.resolve(true),
      allowance: () => Promise.resolve(0n),
      permits: { nonceOf: () => Promise.resolve(0n) },
      permit2: { obstacle: () => Promise.resolve(forPermit2?.obstacle) },
      simulate: (input: { calls: readonly { to: string }[] }) => {
        simulated.push(input);
        return Promise.resolve({ changes: [treasuryChange] });
      },
      searchFrom: (_chainId: number, head: bigint) => head,
      sign: () => Promise.resolve({ operation: {}, userOpHash: "0x" }),
    },
    legs: {
      moveLeg: (move: (typeof moves)[number]) => {
        moves.push(move);
        return Promise.resolve(true);
      },
    },
  };
  await queued(step as unknown as Step);
  return { move: moves[0], simulated };
};

test("a permit's batch is signed when the treasury takes in exactly what it gives out", async () => {
  const { move, simulated } = await signedWith("swap", 0n);
  expect(move?.to).toBe("submitted");
  // The calls: permit, transferFrom, and the leg's own call.
  expect(simulated[0]?.calls.map(({ to }) => to)).toEqual([TOKEN, TOKEN, RECIPIENT]);
});

test.each([-5n, -1n, 1n])(
  "a batch that would change the treasury's balance by %s is not signed",
  async (change) => {
    const { move } = await signedWith("bridge", change);
    expect(move).toMatchObject({
      to: "failed",
      change: { failure: { code: "simulation_failed", retryable: true } },
    });
  },
);

test("a plain transfer does not pass through the treasury, so nothing of the treasury's can pay for it", async () => {
  const { move, simulated } = await signedWith("transfer", -5n);
  expect(move?.to).toBe("submitted");
  expect(simulated).toEqual([]);
});

test("Permit2's batch takes the tokens by one call, and goes on with them when the treasury is left as it was", async () => {
  const { move, simulated } = await signedWith("swap", 0n, { obstacle: null });
  expect(move?.to).toBe("submitted");
  expect(simulated[0]?.calls.map(({ to }) => to)).toEqual([PERMIT2, RECIPIENT]);
  expect((await signedWith("swap", -1n, { obstacle: null })).move).toMatchObject({
    to: "failed",
  });
});

test.each(["swap", "transfer"])(
  "what Permit2 would not do is not signed for: a %s",
  async (kind) => {
    const { move, simulated } = await signedWith(kind, 0n, {
      obstacle: "The wallet cancelled its permit.",
    });
    expect(move).toMatchObject({
      to: "failed",
      change: {
        failure: {
          code: "simulation_failed",
          message: "The wallet cancelled its permit. Nothing left the wallet.",
          retryable: true,
        },
      },
    });
    expect(simulated).toEqual([]);
  },
);

/**
 * Steps a leg that has been queued for too long. `usedFrom` is the block from which on its nonce is
 * used.
 */
const late = async (usedFrom: bigint, final: bigint) => {
  const moves: { to: string; change: { failure?: unknown } }[] = [];
  const asked: bigint[] = [];
  const step = {
    leg: {
      id: "leg_1",
      sourceChainId: 1,
      walletId: "w",
      walletAddress: TREASURY,
      amountBase: 5n,
      permit: null,
    },
    operation: {
      projectId: "p",
      kind: "transfer",
      acceptedAt: new Date(0),
      createdAt: new Date(0),
      gasWaits: [],
    },
    request: {
      sources: [{ token: { address: TOKEN, chainId: 1, decimals: 0 } }],
      destination: { recipient: RECIPIENT },
    },
    routeLeg: { kind: "transfer", sourceIndex: 0 },
    clock: { now: () => new Date(3_600_000) },
    managedAccount: () => Promise.resolve({ address: TREASURY }),
    isSigningAllowed: () => Promise.resolve(true),
    lostMoves: { hasPaid: () => Promise.resolve(false) },
    chains: {
      head: () => Promise.resolve({ number: 100n }),
      finalNumber: () => Promise.resolve(final),
    },
    smartAccounts: {
      wasExecuted: (
        _chainId: number,
        _address: string,
        _legId: string,
        { blockNumber }: { blockNumber: bigint },
      ) => {
        asked.push(blockNumber);
        return Promise.resolve(blockNumber >= usedFrom);
      },
    },
    legs: {
      moveLeg: (move: (typeof moves)[number]) => {
        moves.push(move);
        return Promise.resolve(true);
      },
    },
  };
  return { result: await queued(step as unknown as Step), move: moves[0], asked };
};

test("a leg that is queued for too long was not sent where the chain has executed nothing of it", async () => {
  expect((await late(101n, 90n)).move).toMatchObject({
    to: "failed",
    change: { failure: { code: "not_sent_in_time", retryable: true } },
  });
});

test("a leg that is queued for too long and was executed, before the database was restored, is not tried again", async () => {
  expect((await late(80n, 90n)).move).toMatchObject({
    to: "failed",
    change: { failure: { code: "source_replaced", retryable: false } },
  });
  expect(await late(95n, 90n)).toMatchObject({
    result: "waits",
    move: undefined,
    asked: [100n, 90n],
  });
});
