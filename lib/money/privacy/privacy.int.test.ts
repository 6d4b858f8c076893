import { createPublicClient, http, parseUnits, type Address } from "viem";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { listChains } from "@/lib/contracts/chains";
import {
  approveOperation,
  cancelOperation,
  getOperation,
  listOperations,
} from "@/lib/contracts/operations";
import {
  createPrivacyWallet,
  exportPrivacyWallet,
  type getPrivateTransfer,
  privateTransfer,
  shield,
  startPrivateExit,
  unshield,
} from "@/lib/contracts/privacy";
import {
  executePrivateSwap,
  preparePrivateSwap,
  quotePrivateSwap,
} from "@/lib/contracts/privacy-swap";
import { requestOtp } from "@/lib/contracts/swap";
import type { ResponseOf } from "@/lib/contracts/contract";
import { testApi, type TestApi, type TestApiKey } from "@/lib/dev/testing/api";
import { signApproval, type SignedApproval } from "@/lib/dev/testing/approve";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { declineDepositsOf } from "@/lib/dev/testing/hub";
import {
  balanceOnChain,
  codesOf,
  fund,
  newCustomer,
  type Customer,
} from "@/lib/dev/testing/journey";
import { privateProgress } from "@/lib/dev/testing/private-progress";
import { recoverWithSdk } from "@/lib/dev/testing/sdk-recovery";
import { codeOf } from "@/lib/dev/testing/refusals";

// Whole journeys with real contracts and real proofs. One deposit serves most of the tests, because
// proofs take seconds.
/**
 * A chain on which no other test file deposits, because each deposit changes the association set,
 * and proofs in progress have to be repeated.
 */
const CHAIN = 31337;
const PROOF_TIMEOUT_MS = 220_000;
// A proof occupies all cores for seconds, and other files need them too.
vi.setConfig({ testTimeout: 240_000 });
const COIN = "ETH";
const USDC = (amount: string): bigint => parseUnits(amount, 6);

type Transfer = ResponseOf<typeof getPrivateTransfer>;

let api: TestApi;
let customer: Customer;
let key: TestApiKey;
let usdc: Address;
const { chains, rpcUrls } = await testDevnet();
const rpcUrl = rpcUrls[String(CHAIN)] ?? "";

const { untilFinal, balanceOf, untilSpendable, untilDeclined } = privateProgress({
  client: () => key.client,
  chainId: CHAIN,
  timeoutMs: PROOF_TIMEOUT_MS,
});

beforeAll(async () => {
  api = await testApi({ worker: true });
  customer = await newCustomer(api);
  key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "100000" });
  usdc = chains.find(({ id }) => id === CHAIN)?.tokens.find(({ symbol }) => symbol === "USDC")
    ?.address as Address;
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "2000",
  });
});

test("a shield becomes a note of exactly what the pool leaves of it, and can be spent once it is approved", async () => {
  const begun = await key.client.call(shield, {
    body: { chainId: CHAIN, token: "USDC", amount: "1000" },
  });
  expect(begun).toMatchObject({
    kind: "shield",
    status: "pending",
    engine: "Privacy Pools (0xbow)",
  });
  expect(await untilFinal(begun.transferId)).toMatchObject({
    status: "completed",
    received: { amount: "999" },
  });
  const balance = await untilSpendable("USDC", "999");
  expect(balance).toMatchObject({
    pendingApproval: "0",
    inProof: "0",
    declined: "0",
    shieldFeeBps: 10,
    minimum: "1",
  });
  expect(balance.anonymitySet).toBeGreaterThanOrEqual(1);
  expect(await balanceOnChain(rpcUrl, usdc, customer.treasury)).toBe(USDC("1000"));
});

test("a private transfer pays exactly the amount to its recipient, and its sender is nowhere in its transaction", async () => {
  const recipient = testAccount().address;
  const body = { chainId: CHAIN, token: "USDC", amount: "100.5", toAddress: recipient };
  const begun = await key.client.call(privateTransfer, { body });
  expect(begun.status).toBe("pending");
  const ended = await untilFinal(begun.transferId);
  expect(ended).toMatchObject({
    status: "completed",
    subStatus: "full",
    received: { amount: "100.5" },
  });
  expect(await balanceOnChain(rpcUrl, usdc, recipient)).toBe(USDC("100.5"));
  const hash = (ended.steps[0]?.txHash ?? "0x") as `0x${string}`;
  const client = createPublicClient({ transport: http(rpcUrl) });
  const [transaction, receipt] = await Promise.all([
    client.getTransaction({ hash }),
    client.getTransactionReceipt({ hash }),
  ]);
  const onChain = JSON.stringify([transaction, receipt], (_key, value: unknown) =>
    typeof value === "bigint" ? value.toString() : value,
  ).toLowerCase();
  expect(onChain).toContain(recipient.slice(2).toLowerCase());
  expect(onChain).not.toContain(customer.treasury.slice(2).toLowerCase());
  await untilSpendable("USDC", "898.5");
});

test("an unshield brings exactly the amount back to the treasury", async () => {
  const back = await key.client.call(unshield, {
    body: { chainId: CHAIN, token: "USDC", amount: "50" },
  });
  expect(await untilFinal(back.transferId)).toMatchObject({
    status: "completed",
    received: { amount: "50" },
  });
  expect(await balanceOnChain(rpcUrl, usdc, customer.treasury)).toBe(USDC("1050"));
  await untilSpendable("USDC", "848.5");
});

describe("what waits for a code", () => {
  test("a person's transfer moves nothing before its code, and can be cancelled", async () => {
    const { client } = customer.session;
    const body = {
      chainId: CHAIN,
      token: "USDC",
      amount: "10",
      toAddress: testAccount().address,
    };
    const waiting = await client.call(privateTransfer, { body });
    expect(waiting).toMatchObject({
      status: "pending",
      subStatus: "awaiting_approval",
      steps: [],
    });
    const { operationId } = waiting;
    await client.call(requestOtp, { body: { operationId } });
    expect(
      await codeOf(
        client.call(approveOperation, { params: { id: operationId }, body: { otp: "000000" } }),
      ),
    ).toBe("422 otp_invalid");
    const cancelled = await client.call(cancelOperation, { params: { id: operationId } });
    expect(cancelled).toMatchObject({
      status: "cancelled",
      may: { cancel: false, approve: false, retry: false },
    });
  });

  test("with its code it is carried out, and cancelling it while its proof is made stops the proof and frees the note", async () => {
    const { client } = customer.session;
    const before = await balanceOf("USDC");
    const body = {
      chainId: CHAIN,
      token: "USDC",
      amount: "10",
      toAddress: testAccount().address,
    };
    const { operationId } = await client.call(privateTransfer, { body });
    const seen = await codesOf(api, customer);
    await client.call(requestOtp, { body: { operationId } });
    const otp = await api.readCode(customer.email, seen);
    await client.call(approveOperation, { params: { id: operationId }, body: { otp } });
    await vi.waitFor(async () => {
      expect((await client.call(getOperation, { params: { id: operationId } })).subStatus).toBe(
        "proving",
      );
    }, 20_000);
    expect(Number((await balanceOf("USDC")).inProof)).toBeGreaterThan(0);
    expect(await client.call(cancelOperation, { params: { id: operationId } })).toMatchObject({
      status: "cancelled",
    });
    await untilSpendable("USDC", before.spendable);
  });
});

test("a transfer to another private wallet stays in the pool, is worth exactly the amount there, and can be unshielded", async () => {
  const { id: privacyWalletId } = await key.client.call(createPrivacyWallet, {
    body: { name: "Payroll" },
  });
  const body = {
    chainId: CHAIN,
    token: "USDC",
    amount: "50",
    toPrivacyWalletId: privacyWalletId,
  };
  const ended = await untilFinal((await key.client.call(privateTransfer, { body })).transferId);
  expect(ended).toMatchObject({ status: "completed", received: { amount: "50" } });
  await untilSpendable("USDC", "50", privacyWalletId);
  const treasury = await balanceOnChain(rpcUrl, usdc, customer.treasury);
  const back = await key.client.call(unshield, {
    body: { chainId: CHAIN, token: "USDC", amount: "50", privacyWalletId },
  });
  expect(await untilFinal(back.transferId)).toMatchObject({
    status: "completed",
    received: { amount: "50" },
  });
  expect(await balanceOnChain(rpcUrl, usdc, customer.treasury)).toBe(treasury + USDC("50"));
});

test("a private swap brings at least the minimum of its quote as a new note, and a quote moves money once", async () => {
  const quote = await key.client.call(quotePrivateSwap, {
    body: { chainId: CHAIN, fromToken: "USDC", toToken: "DAI", amount: "100" },
  });
  expect(
    await codeOf(key.client.call(executePrivateSwap, { body: { quoteId: quote.quoteId } })),
  ).toBe("409 invalid_state");
  const { privacyWalletId } = await balanceOf("USDC");
  const prepared = await key.client.call(preparePrivateSwap, {
    body: { quoteId: quote.quoteId, privacyWalletId },
  });
  expect(prepared).toMatchObject({ prepared: true, approved: false });
  const calls = Array.from({ length: 5 }, () =>
    key.client.call(executePrivateSwap, { body: { quoteId: quote.quoteId } }),
  );
  const answers = await Promise.all(calls);
  const [transferId = "", ...others] = new Set(answers.map((answer) => answer.transferId));
  expect(others).toEqual([]);
  const ended = await untilFinal(transferId);
  expect(ended.status).toBe("completed");
  expect(Number(ended.received?.amount)).toBeGreaterThanOrEqual(Number(quote.minimum.amount));
  await untilSpendable("DAI", ended.received?.amount ?? "");
  const again = await key.client.call(executePrivateSwap, { body: { quoteId: quote.quoteId } });
  expect(again.transferId).toBe(transferId);
});

test("more than the largest note takes several notes, and is one transfer that brings exactly the amount", async () => {
  const { id: privacyWalletId } = await key.client.call(createPrivacyWallet, {
    body: { name: "Small notes" },
  });
  for (const spendable of ["9.99", "19.98"]) {
    const { transferId } = await key.client.call(shield, {
      body: { chainId: CHAIN, token: "USDC", amount: "10", privacyWalletId },
    });
    await untilFinal(transferId);
    await untilSpendable("USDC", spendable, privacyWalletId);
  }
  const recipient = testAccount().address;
  const body = {
    chainId: CHAIN,
    token: "USDC",
    amount: "15",
    toAddress: recipient,
    privacyWalletId,
  };
  const ended = await untilFinal((await key.client.call(privateTransfer, { body })).transferId);
  expect(ended).toMatchObject({ status: "completed", received: { amount: "15" } });
  expect(ended.steps.map(({ state, withdrawn }) => [state, withdrawn])).toEqual([
    ["completed", "9.99"],
    ["completed", "5.01"],
  ]);
  expect(await balanceOnChain(rpcUrl, usdc, recipient)).toBe(USDC("15"));
});

test("the chain's own coin goes the whole way, and arrives exactly", async () => {
  const { client } = customer.session;
  const { id: privacyWalletId } = await key.client.call(createPrivacyWallet, {
    body: { name: "Coins" },
  });
  await fund(client, customer.treasury, { chainId: CHAIN, token: "native", amount: "12" });
  const move = { chainId: CHAIN, token: "native", privacyWalletId };
  const coins = (address: Address) =>
    createPublicClient({ transport: http(rpcUrl) }).getBalance({ address });
  await untilFinal(
    (await key.client.call(shield, { body: { ...move, amount: "10" } })).transferId,
  );
  await untilSpendable(COIN, "9.99", privacyWalletId);
  const toAddress = testAccount().address;
  const paid = await key.client.call(privateTransfer, {
    body: { ...move, amount: "2.000000000000000001", toAddress },
  });
  expect(await untilFinal(paid.transferId)).toMatchObject({ status: "completed" });
  expect(await coins(toAddress)).toBe(2_000_000_000_000_000_001n);
  const home = await coins(customer.treasury);
  const back = await key.client.call(unshield, { body: { ...move, amount: "1.5" } });
  expect(await untilFinal(back.transferId)).toMatchObject({
    status: "completed",
    received: { amount: "1.5" },
  });
  expect((await coins(customer.treasury)) - home).toBe(1_500_000_000_000_000_000n);
  await untilSpendable(COIN, "6.489999999999999999", privacyWalletId);
});

// The last test with a swap, because from here on the processor's deposits are declined.
test("a declined note that came out of a private swap leaves in public to the project's treasury, and to it alone", async () => {
  const { privacyPools } = api.services.registry.get(CHAIN);
  await declineDepositsOf(privacyPools?.processor ?? "");
  const quote = await key.client.call(quotePrivateSwap, {
    body: { chainId: CHAIN, fromToken: "USDC", toToken: "DAI", amount: "20" },
  });
  const { privacyWalletId } = await balanceOf("USDC");
  await key.client.call(preparePrivateSwap, {
    body: { quoteId: quote.quoteId, privacyWalletId },
  });
  const { transferId } = await key.client.call(executePrivateSwap, {
    body: { quoteId: quote.quoteId },
  });
  const swapped = await untilFinal(transferId);
  expect(swapped).toMatchObject({ status: "completed" });
  const declined = await untilDeclined("DAI", { privacyWalletId });
  expect(declined.amount).toEqual(swapped.received);
  const dai = chains
    .find(({ id }) => id === CHAIN)
    ?.tokens.find(({ symbol }) => symbol === "DAI")?.address as Address;
  const before = await balanceOnChain(rpcUrl, dai, customer.treasury);
  const body = { chainId: CHAIN, noteId: declined.noteId, privacyWalletId };
  const exit = await key.client.call(startPrivateExit, { body });
  expect(await untilFinal(exit.transferId)).toMatchObject({
    status: "completed",
    received: declined.amount,
  });
  const after = await balanceOnChain(rpcUrl, dai, customer.treasury);
  expect((after - before).toString()).toBe(declined.amount.amountBase);
});

test("private operations exist for those alone who may read privacy", async () => {
  const blind = await api.createKey(customer.session, {
    scopes: ["operations:read", "operations:write"],
  });
  const { data } = await key.client.call(listOperations, { query: {} });
  const own = data.find(({ kind }) => kind === "private_transfer");
  expect(own).toBeDefined();
  // Even callers who may read private operations can leave them out, because the pages list them
  // separately.
  const others = await key.client.call(listOperations, { query: { private: "exclude" } });
  expect(
    others.data.filter(({ kind }) => kind.startsWith("private") || kind.includes("shield")),
  ).toEqual([]);
  const seen = await blind.client.call(listOperations, { query: {} });
  expect(
    seen.data.filter(({ kind }) => kind.startsWith("private") || kind.includes("shield")),
  ).toEqual([]);
  const id = own?.operationId ?? "";
  expect(await codeOf(blind.client.call(getOperation, { params: { id } }))).toBe(
    "404 not_found",
  );
  expect(await codeOf(blind.client.call(cancelOperation, { params: { id } }))).toBe(
    "404 not_found",
  );
});

test("what a pool does not take, and whom it does not know, is refused with a code of its own and moves nothing", async () => {
  const stranger = await newCustomer(api);
  const toAddress = testAccount().address;
  const { id: foreign } = await stranger.session.client.call(createPrivacyWallet, {
    body: { name: "Theirs" },
  });
  const move = { chainId: CHAIN, token: "USDC", amount: "10" };
  const { client } = key;
  expect(await codeOf(client.call(shield, { body: { ...move, amount: "0.99" } }))).toBe(
    "422 below_pool_minimum",
  );
  expect(await codeOf(client.call(shield, { body: { ...move, token: "USDT" } }))).toBe(
    "422 unknown_pool",
  );
  expect(
    await codeOf(client.call(shield, { body: { ...move, privacyWalletId: foreign } })),
  ).toBe("404 unknown_privacy_wallet");
  expect(
    await codeOf(
      client.call(privateTransfer, { body: { ...move, toAddress, privacyWalletId: foreign } }),
    ),
  ).toBe("404 unknown_privacy_wallet");
  expect(
    await codeOf(
      client.call(privateTransfer, { body: { ...move, toAddress, amount: "100000" } }),
    ),
  ).toBe("422 insufficient_balance");
  expect(
    await codeOf(
      client.call(privateTransfer, { body: { ...move, toAddress, amount: "1.0000001" } }),
    ),
  ).toBe("422 amount_precision");
  expect(
    await codeOf(
      client.call(privateTransfer, { body: { ...move, toPrivacyWalletId: foreign } }),
    ),
  ).toBe("404 unknown_privacy_wallet");
  expect(
    await codeOf(
      client.call(quotePrivateSwap, {
        body: { chainId: CHAIN, fromToken: "USDC", toToken: "USDT", amount: "10" },
      }),
    ),
  ).toBe("422 unknown_pool");
});

test("an Idempotency-Key is good for its own call alone", async () => {
  const send = (idempotencyKey: string, amount: string) =>
    api.fetch("/privacy/transfer", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "idempotency-key": idempotencyKey,
        authorization: `Bearer ${customer.session.accessToken}`,
      },
      body: JSON.stringify({
        chainId: CHAIN,
        token: "USDC",
        amount,
        toAddress: customer.treasury,
      }),
    });
  const [one, again] = [await send("a", "5"), await send("a", "5")];
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(((await again.json()) as Transfer).transferId).toBe(
    ((await one.json()) as Transfer).transferId,
  );
  expect((await send("a", "6")).status).toBe(422);
});

const wordsOf = ({ mnemonic }: { readonly mnemonic: string | null }): string => {
  if (mnemonic === null) throw new Error("The mnemonic was not shown.");
  return mnemonic;
};

test("a mnemonic is shown with an approval of exactly that, once, and the audit log says so", async () => {
  const { client, account } = customer.session;
  const { id: privacyWalletId } = await client.call(createPrivacyWallet, {
    body: { name: "To take along" },
  });
  const params = { id: privacyWalletId };
  const ask = (approval?: SignedApproval) =>
    client.call(exportPrivacyWallet, {
      params,
      body: approval === undefined ? {} : { approval },
    });
  const approval = await signApproval(account, await ask().catch((error: unknown) => error));
  const mnemonic = wordsOf(await ask(approval));
  expect(mnemonic.split(" ")).toHaveLength(12);
  expect(await codeOf(ask(approval))).toBe("409 invalid_state");
  const { prisma } = api.services.database;
  expect(
    await prisma.auditEvent.count({
      where: { action: "privacy_wallet.exported", subject: privacyWalletId },
    }),
  ).toBe(1);
  const row = await prisma.privacyWallet.findFirst({ where: { id: privacyWalletId } });
  expect(JSON.stringify(row)).not.toContain(mnemonic);
  expect(Buffer.from(row?.ciphertext ?? []).toString("utf8")).not.toContain(
    mnemonic.slice(0, 10),
  );
});

test("the SDK's own recovery finds the same money with what the export answers and the chain alone", async () => {
  const { client, account } = customer.session;
  const balance = await balanceOf("USDC");
  const params = { id: balance.privacyWalletId };
  const asked = await client
    .call(exportPrivacyWallet, { params, body: {} })
    .catch((error: unknown) => error);
  const approval = await signApproval(account, asked);
  const exported = await client.call(exportPrivacyWallet, { params, body: { approval } });
  const { data } = await client.call(listChains, {});
  expect(exported.pools).toEqual(data.flatMap(({ privacyPools }) => privacyPools));
  expect(exported.pools.map(({ token }) => token.symbol)).toEqual(
    [1, 2, 3].flatMap(() => ["USDC", "DAI", "ETH"]),
  );
  const pool = exported.pools.find(
    ({ token }) => token.chainId === CHAIN && token.symbol === "USDC",
  );
  if (pool === undefined) throw new Error("The export names no pool of USDC.");
  const notes = await recoverWithSdk({
    mnemonic: wordsOf(exported),
    chainId: CHAIN,
    rpcUrl,
    pool,
  });
  const ours = [balance.spendable, balance.inProof, balance.pendingApproval].map(USDC);
  expect(notes.reduce((sum, { valueBase }) => sum + valueBase, 0n)).toBe(
    ours.reduce((sum, base) => sum + base, 0n),
  );
  expect(notes).not.toEqual([]);
});
