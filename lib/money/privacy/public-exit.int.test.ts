import type { Address } from "viem";
import { expect, onTestFinished, test, vi } from "vitest";
import { createProver, type Prover } from "@/lib/adapters/privacy-pools/prover";
import { ApiError } from "@/lib/api-client/client";
import {
  approveOperation,
  getOperation,
  listOperations,
  retryOperation,
} from "@/lib/contracts/operations";
import {
  getPrivateBalances,
  listPrivateExits,
  shield,
  startPrivateExit,
} from "@/lib/contracts/privacy";
import { requestOtp } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { declineDepositsOf } from "@/lib/dev/testing/hub";
import { balanceOnChain, codesOf, fund, newCustomer } from "@/lib/dev/testing/journey";
import { privateProgress } from "@/lib/dev/testing/private-progress";
import { startWorker } from "@/lib/workers/runner";

/**
 * A chain on which no other test file deposits, because each deposit changes the association set,
 * and proofs in progress have to be repeated.
 */
const CHAIN = 31339;
const TIMEOUT_MS = 150_000;
/** An operation that was not sent for this long after its approval is not sent any more. */
const TOO_LATE_MS = 601_000;

const codeIn = (error: unknown): string =>
  error instanceof ApiError ? `${String(error.status)} ${error.code}` : "no error";

const codeOf = async (call: Promise<unknown>): Promise<string> =>
  codeIn(await call.catch((reason: unknown) => reason));

/** The real prover, which starts no proof while it is held. */
const holdableProver = () => {
  const prover = createProver({ niceness: 0 });
  let gate: Promise<void> = Promise.resolve();
  let asked = 0;
  return {
    prover: {
      ...prover,
      prove: async (...input: Parameters<Prover["prove"]>) => {
        asked += 1;
        await gate;
        return prover.prove(...input);
      },
    },
    /** Number of requested proofs. */
    asked: () => asked,
    /**
     * Holds the prover. @returns a function that makes waiting proofs fail, and lets later ones
     * begin
     */
    hold: (): ((error: Error) => void) => {
      let release: (error: Error) => void = () => undefined;
      const held = new Promise<void>((_resolve, reject) => (release = reject));
      gate = held;
      return (error) => {
        gate = Promise.resolve();
        release(error);
      };
    },
  };
};

/**
 * A customer whose deposits are declined, with a key and a treasury of 10 USDC. No proof is made
 * while the gate is held.
 */
const openContext = async () => {
  const gate = holdableProver();
  const clock = { aheadMs: 0, now: () => new Date(Date.now() + clock.aheadMs) };
  const api = await testApi({ overrides: { clock, prover: gate.prover } });
  const { chains, rpcUrls } = await testDevnet();
  const customer = await newCustomer(api);
  const { client } = customer.session;
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "100000" });
  const usdc = chains
    .find(({ id }) => id === CHAIN)
    ?.tokens.find(({ symbol }) => symbol === "USDC")?.address as Address;
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "10" });
  await declineDepositsOf(customer.treasury);
  return {
    ...{ gate, clock, api, customer, client, key },
    ...privateProgress({ client: () => client, chainId: CHAIN, timeoutMs: TIMEOUT_MS }),
    /** The treasury's balance on chain. */
    onChain: () => balanceOnChain(rpcUrls[String(CHAIN)] ?? "", usdc, customer.treasury),
  };
};

type Context = Awaited<ReturnType<typeof openContext>>;

/** Waits until the operation has failed because it was not sent in time, and retries it. */
const tryAgain = async ({ client, clock, key }: Context, operationId: string) => {
  await vi.waitFor(
    async () => {
      const operation = await client.call(getOperation, { params: { id: operationId } });
      expect(operation).toMatchObject({ status: "failed", may: { retry: true } });
    },
    { timeout: TIMEOUT_MS, interval: 100 },
  );
  clock.aheadMs = 0;
  const begun = await key.client.call(retryOperation, { params: { id: operationId } });
  if ("quoteId" in begun) throw new Error("The retry is a quote.");
  const { retryOf } = await client.call(getOperation, { params: { id: begun.operationId } });
  expect(retryOf).toBe(operationId);
  expect(await codeOf(key.client.call(retryOperation, { params: { id: operationId } }))).toBe(
    "409 invalid_state",
  );
  return begun;
};

/**
 * Deposits 10 USDC on the second try.
 * @returns the declined note, as the body that starts its exit
 */
const declinedDeposit = async (context: Context) => {
  const { api, clock, client, key, untilDeclined, onChain } = context;
  const late = await key.client.call(shield, {
    body: { chainId: CHAIN, token: "USDC", amount: "10" },
  });
  clock.aheadMs += TOO_LATE_MS;
  const worker = startWorker(api.services);
  onTestFinished(() => worker.stop());
  await tryAgain(context, late.operationId);
  const declined = await untilDeclined("USDC", { timeoutMs: TIMEOUT_MS });
  expect(declined).toMatchObject({ amount: { amount: "9.99" }, leaving: false });
  expect(await onChain()).toBe(0n);
  const balances = await client.call(getPrivateBalances, { query: {} });
  expect(
    balances.data.find(({ chainId, token }) => chainId === CHAIN && token.symbol === "USDC"),
  ).toMatchObject({
    declined: "9.99",
    spendable: "0",
    pendingApproval: "0",
  });
  return { chainId: CHAIN, noteId: declined.noteId, privacyWalletId: declined.privacyWalletId };
};

test(
  "a declined deposit goes back to the treasury whole, after a code, once, and for nobody else; what was not sent can be tried again",
  { timeout: 2 * TIMEOUT_MS },
  async () => {
    const context = await openContext();
    const { gate, clock, api, customer, client, key, untilFinal, onChain } = context;
    const body = await declinedDeposit(context);
    const stranger = await newCustomer(api);
    expect(await codeOf(stranger.session.client.call(startPrivateExit, { body }))).toBe(
      "404 unknown_privacy_wallet",
    );
    expect(
      await codeOf(client.call(startPrivateExit, { body: { ...body, noteId: "1" } })),
    ).toBe("409 note_spent");

    const waiting = await client.call(startPrivateExit, { body });
    expect(waiting).toMatchObject({
      kind: "public_exit",
      status: "pending",
      subStatus: "awaiting_approval",
    });
    const params = { id: waiting.operationId };
    expect(
      await codeOf(client.call(approveOperation, { params, body: { otp: "000000" } })),
    ).toBe("409 otp_required");
    const seen = await codesOf(api, customer);
    await client.call(requestOtp, { body: { operationId: waiting.operationId } });
    const otp = await api.readCode(customer.email, seen);
    // No request waits for a proof, and of several callers who take the note at the same time only
    // one gets it.
    const release = gate.hold();
    const answers = await Promise.allSettled([
      client.call(approveOperation, { params, body: { otp } }),
      key.client.call(startPrivateExit, { body }),
      key.client.call(startPrivateExit, { body }),
    ]);
    const codes = answers.flatMap((answer) =>
      answer.status === "rejected" ? [codeIn(answer.reason)] : [],
    );
    expect(codes).toEqual(["409 note_spent", "409 note_spent"]);
    expect(await codeOf(key.client.call(startPrivateExit, { body }))).toBe("409 note_spent");
    const [won] = answers.flatMap((answer) =>
      answer.status === "fulfilled" ? [answer.value] : [],
    );
    await vi.waitFor(() => expect(gate.asked()).toBe(1), { timeout: TIMEOUT_MS });
    clock.aheadMs += TOO_LATE_MS;
    release(new Error("The proving process ended."));
    const { transferId } = await tryAgain(context, won?.operationId ?? "");
    const ended = await untilFinal(transferId);
    expect(ended).toMatchObject({
      status: "completed",
      received: { amount: "9.99" },
      toAddress: customer.treasury,
    });
    expect(await onChain()).toBe(9_990_000n);
    expect((await client.call(listPrivateExits, { query: {} })).data).toEqual([]);
    expect(await codeOf(key.client.call(startPrivateExit, { body }))).toBe("409 note_spent");
    const { data } = await client.call(listOperations, { query: {} });
    expect(data.map(({ kind, status }) => [kind, status])).toContainEqual([
      "public_exit",
      "completed",
    ]);
  },
);
