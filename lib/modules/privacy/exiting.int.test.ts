import type { Address } from "viem";
import { expect, test, vi } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { approveOperation, listOperations } from "@/lib/contracts/operations";
import {
  getPrivateBalances,
  getPrivateTransfer,
  listPrivateExits,
  shield,
  startPrivateExit,
} from "@/lib/contracts/privacy";
import { requestOtp } from "@/lib/contracts/swap";
import { isFinal } from "@/lib/core/status";
import { testApi } from "@/lib/testing/api";
import { testDevnet } from "@/lib/testing/devnet";
import { declineDepositsOf } from "@/lib/testing/hub";
import { balanceOnChain, codesOf, fund, newCustomer } from "@/lib/testing/journey";

/** A chain that no other test file deposits on: each deposit changes the association set, and proofs under way have to be made again. */
const CHAIN = 31339;
const TIMEOUT_MS = 150_000;

const codeOf = async (call: Promise<unknown>): Promise<string> => {
  const error: unknown = await call.catch((reason: unknown) => reason);
  return error instanceof ApiError ? `${String(error.status)} ${error.code}` : "no error";
};

test(
  "a declined deposit goes back to the treasury whole, after a code, once, and for nobody else",
  { timeout: 2 * TIMEOUT_MS },
  async () => {
    const api = await testApi({ worker: true });
    const { chains, rpcUrls } = await testDevnet();
    const customer = await newCustomer(api);
    const { client } = customer.session;
    const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "100000" });
    const usdc = chains.find(({ id }) => id === CHAIN)?.tokens.find(({ symbol }) => symbol === "USDC")
      ?.address as Address;
    const onChain = () => balanceOnChain(rpcUrls[String(CHAIN)] ?? "", usdc, customer.treasury);
    await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "10" });
    await declineDepositsOf(customer.treasury);
    await key.client.call(shield, { body: { chainId: CHAIN, token: "USDC", amount: "10" } });
    const declined = await vi.waitFor(
      async () => {
        const { data } = await client.call(listPrivateExits, { query: {} });
        const [note] = data.filter(({ state }) => state === "declined");
        if (note === undefined) throw new Error("No deposit is declined yet.");
        return note;
      },
      { timeout: TIMEOUT_MS, interval: 100 },
    );
    expect(declined).toMatchObject({ amount: { amount: "9.99" }, leaving: false });
    expect(await onChain()).toBe(0n);
    const balances = await client.call(getPrivateBalances, { query: {} });
    expect(balances.data.find(({ chainId, token }) => chainId === CHAIN && token.symbol === "USDC")).toMatchObject({
      declined: "9.99",
      spendable: "0",
      pendingApproval: "0",
    });

    const body = { chainId: CHAIN, noteId: declined.noteId, privacyWalletId: declined.privacyWalletId };
    const stranger = await newCustomer(api);
    expect(await codeOf(stranger.session.client.call(startPrivateExit, { body }))).toBe("404 unknown_privacy_wallet");
    expect(await codeOf(client.call(startPrivateExit, { body: { ...body, noteId: "1" } }))).toBe("409 note_spent");

    const waiting = await client.call(startPrivateExit, { body });
    expect(waiting).toMatchObject({ kind: "public_exit", status: "pending", subStatus: "awaiting_approval" });
    const params = { id: waiting.operationId };
    expect(await codeOf(client.call(approveOperation, { params, body: { otp: "000000" } }))).toBe("409 otp_required");
    const seen = await codesOf(api, customer);
    await client.call(requestOtp, { body: { operationId: waiting.operationId } });
    const otp = await api.readCode(customer.email, seen);
    await client.call(approveOperation, { params, body: { otp } });
    // While it runs, or after it, nothing takes the note a second time.
    expect(await codeOf(key.client.call(startPrivateExit, { body }))).toBe("409 note_spent");
    const ended = await vi.waitFor(
      async () => {
        const transfer = await client.call(getPrivateTransfer, { params: { id: waiting.transferId } });
        if (!isFinal(transfer.status)) throw new Error(`It is ${transfer.status} (${transfer.subStatus}).`);
        return transfer;
      },
      { timeout: TIMEOUT_MS, interval: 100 },
    );
    expect(ended).toMatchObject({ status: "completed", received: { amount: "9.99" }, toAddress: customer.treasury });
    expect(await onChain()).toBe(9_990_000n);
    expect((await client.call(listPrivateExits, { query: {} })).data).toEqual([]);
    expect(await codeOf(key.client.call(startPrivateExit, { body }))).toBe("409 note_spent");
    const { data } = await client.call(listOperations, { query: {} });
    expect(data.map(({ kind, status }) => [kind, status])).toContainEqual(["public_exit", "completed"]);
  },
);
