import { beforeAll, expect, test } from "vitest";
import { contracts } from "@/lib/contracts/all";
import { newId } from "@/lib/core/ids";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { balanceOnChain } from "@/lib/dev/testing/journey";
import {
  ONE,
  approvalAsked,
  call,
  expecting,
  keyOf,
  linked,
  operationOf,
  payoutOf,
  privateQuote,
  quoteOf,
  startWorld,
  theApi,
  attackFixture,
  transferBody,
  type AttackTable,
} from "@/lib/dev/testing/token-attacks";
import { checkAfterlife, countRows, settleIn, unclassified } from "@/lib/dev/testing/afterlife";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";
import { PEOPLE_ROWS } from "@/lib/dev/testing/people-attacks";
import { RECORD_ROWS } from "@/lib/dev/testing/record-attacks";
import { SERVICE_ROWS } from "@/lib/dev/testing/service-attacks";

const { chains } = await testDevnet();

const TABLE: AttackTable = {
  "POST /auth/logout": [
    "moves nothing",
    async () =>
      expecting(
        call("POST", "/auth/logout", undefined, (await theApi().signIn()).accessToken),
        200,
      ),
  ],
  "PATCH /me": [
    "needs approval",
    () => approvalAsked(call("PATCH", "/me", { email: "eve@example.test" })),
  ],
  "POST /me/email/verify": [
    "needs code",
    () =>
      expecting(call("POST", "/me/email/verify", { code: "000000" }), 410, {
        code: "otp_expired",
      }),
  ],
  "POST /auth/api-keys": [
    "needs approval",
    () =>
      approvalAsked(
        call("POST", "/auth/api-keys", { name: "x", otp: "exempt", dailyCapUsd: "1" }),
      ),
  ],
  "PATCH /auth/api-keys/{id}": [
    "needs approval",
    async () =>
      approvalAsked(
        call("PATCH", `/auth/api-keys/${await keyOf()}`, { otp: "exempt", dailyCapUsd: "1" }),
      ),
  ],
  "POST /auth/api-keys/{id}/rotate": [
    "needs approval",
    async () => approvalAsked(call("POST", `/auth/api-keys/${await keyOf()}/rotate`, {})),
  ],
  "DELETE /auth/api-keys/{id}": [
    "narrows",
    async () => expecting(call("DELETE", `/auth/api-keys/${await keyOf()}`), 200),
  ],
  "PATCH /policies": [
    "needs approval",
    () => approvalAsked(call("PATCH", "/policies", { dailyCapUsd: "1001" })),
  ],
  "PUT /policies": [
    "needs approval",
    () =>
      approvalAsked(call("PUT", "/policies", { scope: "project", baseVersion: 0, rules: {} })),
  ],
  "POST /policies/evaluate": [
    "moves nothing",
    ({ customer, eve }) => {
      const from = {
        fromWalletId: customer.treasuryId,
        fromChainId: 31337,
        token: "USDC",
        amount: "1",
      };
      return expecting(call("POST", "/policies/evaluate", { ...from, toAddress: eve }), 200);
    },
  ],
  "PATCH /wallets/{id}": [
    "moves nothing",
    ({ customer }) =>
      expecting(call("PATCH", `/wallets/${customer.treasuryId}`, { label: "Till" }), 200),
  ],
  "POST /wallets/link/init": [
    "moves nothing",
    () =>
      expecting(call("POST", "/wallets/link/init", { address: testAccount().address }), 200),
  ],
  "POST /wallets/link/verify": [
    "moves nothing",
    async () => ({ got: (await linked()).verified, expected: { status: 200 } }),
  ],
  "DELETE /wallets/link/{address}": [
    "narrows",
    async () => expecting(call("DELETE", `/wallets/link/${(await linked()).address}`), 200),
  ],
  "POST /wallet/smart-account": [
    "moves nothing",
    async () => {
      const { address: ownerAddress } = await linked();
      return expecting(
        call("POST", "/wallet/smart-account", { ownerAddress, chainId: ONE }),
        201,
        {
          signer: "owner",
        },
      );
    },
  ],
  "POST /contacts": [
    "moves nothing",
    ({ eve }) => expecting(call("POST", "/contacts", { name: "Eve", address: eve }), 201),
  ],
  "POST /contacts/{id}/approve": [
    "needs approval",
    async () => {
      const { body } = await call("POST", "/contacts", {
        name: "Eve",
        address: testAccount().address,
      });
      return approvalAsked(call("POST", `/contacts/${String(body.id)}/approve`, {}));
    },
  ],
  "POST /contacts/approve": [
    "needs approval",
    async () => {
      const { body } = await call("POST", "/contacts", {
        name: "Eve",
        address: testAccount().address,
      });
      return approvalAsked(call("POST", "/contacts/approve", { ids: [body.id] }));
    },
  ],
  "POST /contacts/import": [
    "moves nothing",
    ({ eve }) =>
      expecting(
        call("POST", "/contacts/import", { contacts: [{ name: "Eve", address: eve }] }),
        200,
      ),
  ],
  "POST /exports": [
    "moves nothing",
    () => expecting(call("POST", "/exports", { kind: "activity", format: "csv" }), 201),
  ],
  "DELETE /contacts/{id}": [
    "moves nothing",
    async () => {
      const { body } = await call("POST", "/contacts", {
        name: "Eve",
        address: testAccount().address,
      });
      return expecting(call("DELETE", `/contacts/${String(body.id)}`), 200);
    },
  ],
  "POST /swap/quote": [
    "moves nothing",
    async (it) => ({
      got: { status: 200, body: { quoteId: await quoteOf(it) } },
      expected: { status: 200 },
    }),
  ],
  "POST /swap/request-otp": [
    "moves nothing",
    async (it) =>
      expecting(call("POST", "/swap/request-otp", { quoteId: await quoteOf(it) }), 200),
  ],
  "POST /swap/prepare": [
    "needs code",
    async (it) =>
      expecting(call("POST", "/swap/prepare", { quoteId: await quoteOf(it) }), 409, {
        code: "otp_required",
      }),
  ],
  "POST /swap/execute": [
    "needs code",
    async (it) =>
      expecting(call("POST", "/swap/execute", { quoteId: await quoteOf(it) }), 409, {
        code: "invalid_state",
      }),
  ],
  "POST /transfers": [
    "waits for code",
    (it) =>
      expecting(call("POST", "/transfers", transferBody(it)), 201, {
        status: "pending",
        subStatus: "created",
      }),
  ],
  "POST /transfers/{id}/cancel": [
    "moves nothing",
    async (it) => {
      const { body } = await call("POST", "/transfers", transferBody(it));
      return expecting(call("POST", `/transfers/${String(body.transferId)}/cancel`), 200, {
        status: "cancelled",
      });
    },
  ],
  "POST /swap-and-transfer": [
    "waits for code",
    (it) =>
      expecting(operationOf(it), 202, { status: "pending", subStatus: "awaiting_approval" }),
  ],
  "POST /operations/{id}/cancel": [
    "moves nothing",
    async (it) => {
      const { body } = await operationOf(it);
      return expecting(call("POST", `/operations/${String(body.operationId)}/cancel`), 200, {
        status: "cancelled",
      });
    },
  ],
  "POST /operations/{id}/retry": [
    "needs code",
    async (it) => {
      const { body } = await operationOf(it);
      return expecting(call("POST", `/operations/${String(body.operationId)}/retry`), 409, {
        code: "invalid_state",
      });
    },
  ],
  "POST /operations/{id}/approve": [
    "needs code",
    async (it) => {
      const { body } = await operationOf(it);
      const path = `/operations/${String(body.operationId)}/approve`;
      return expecting(call("POST", path, { otp: "000000" }), 409, { code: "otp_required" });
    },
  ],
  "POST /operations/{id}/legs/{legId}/refund-decision": [
    "moves nothing",
    async (it) => {
      const { body } = await operationOf(it);
      const path = `/operations/${String(body.operationId)}/legs/${newId("leg")}/refund-decision`;
      return expecting(call("POST", path, { decision: "not_refunded_keep_waiting" }), 404, {
        code: "not_found",
      });
    },
  ],
  "POST /privacy/wallets": [
    "moves nothing",
    () =>
      expecting(call("POST", "/privacy/wallets", { name: "Payroll" }), 201, {
        name: "Payroll",
      }),
  ],
  "POST /privacy/wallets/{id}/export": [
    "needs approval",
    async () => {
      const { id: privacyWalletId } = (
        await call("POST", "/privacy/wallets", { name: "Payroll" })
      ).body;
      return approvalAsked(
        call("POST", `/privacy/wallets/${String(privacyWalletId)}/export`, {}),
      );
    },
  ],
  // Nothing is stored before there is a note.
  "POST /privacy/exits": [
    "waits for code",
    () =>
      expecting(call("POST", "/privacy/exits", { chainId: ONE, noteId: "1" }), 409, {
        code: "note_spent",
      }),
  ],
  "POST /privacy/shield": [
    "waits for code",
    () =>
      expecting(
        call("POST", "/privacy/shield", { chainId: ONE, token: "USDC", amount: "1" }),
        202,
        {
          status: "pending",
          subStatus: "awaiting_approval",
        },
      ),
  ],
  // Of these two nothing is stored before there are private notes to spend.
  "POST /privacy/unshield": [
    "waits for code",
    ({ eve }) =>
      expecting(
        call("POST", "/privacy/unshield", {
          chainId: ONE,
          token: "USDC",
          amount: "1",
          toAddress: eve,
        }),
        422,
        {
          code: "insufficient_balance",
        },
      ),
  ],
  "POST /privacy/transfer": [
    "waits for code",
    ({ eve }) =>
      expecting(
        call("POST", "/privacy/transfer", {
          chainId: ONE,
          token: "USDC",
          amount: "1",
          toAddress: eve,
        }),
        422,
        {
          code: "insufficient_balance",
        },
      ),
  ],
  "POST /privacy/swap/quote": ["moves nothing", () => expecting(privateQuote(), 200)],
  "POST /privacy/swap/prepare": [
    "moves nothing",
    async () => {
      const { quoteId } = (await privateQuote()).body;
      const { id: privacyWalletId } = (
        await call("POST", "/privacy/wallets", { name: "Payroll" })
      ).body;
      return expecting(
        call("POST", "/privacy/swap/prepare", { quoteId, privacyWalletId }),
        200,
        {
          approved: false,
        },
      );
    },
  ],
  "POST /privacy/swap/execute": [
    "waits for code",
    async () => {
      const { quoteId } = (await privateQuote()).body;
      return expecting(call("POST", "/privacy/swap/execute", { quoteId }), 409, {
        code: "invalid_state",
      });
    },
  ],
  "POST /global-accounts": [
    "own books",
    () => expecting(call("POST", "/global-accounts", { currency: "USDC" }), 201),
  ],
  "POST /global-accounts/{id}/fund": [
    "own books",
    ({ accounts: [payer] }) =>
      expecting(
        call("POST", `/global-accounts/${payer}/fund`, { currency: "USDC", amount: "1" }),
        201,
      ),
  ],
  "POST /global-accounts/{id}/reversals": [
    "own books",
    async ({ accounts: [, payee] }) => {
      const { body } = await call("POST", `/global-accounts/${payee}/fund`, {
        currency: "USDC",
        amount: "1",
      });
      const { transactionId } = body;
      return expecting(
        call("POST", `/global-accounts/${payee}/reversals`, { transactionId }),
        201,
      );
    },
  ],
  "POST /payouts/bulk/global-accounts": [
    "waits for code",
    (it) => expecting(payoutOf(it), 202, { status: "pending", subStatus: "awaiting_approval" }),
  ],
  "POST /payouts/bulk/wallets": [
    "waits for code",
    (it) =>
      expecting(
        call("POST", "/payouts/bulk/wallets", {
          chainId: ONE,
          transfers: [{ address: it.eve, amount: "1", token: "USDC" }],
        }),
        202,
        { status: "pending", subStatus: "awaiting_approval" },
      ),
  ],
  "POST /payouts/{id}/approve": [
    "needs code",
    async (it) => {
      const { body } = await payoutOf(it);
      const path = `/payouts/${String(body.payoutId)}/approve`;
      return expecting(call("POST", path, { otp: "000000" }), 409, { code: "otp_required" });
    },
  ],
  "POST /payouts/{id}/cancel": [
    "moves nothing",
    async (it) => {
      const { body } = await payoutOf(it);
      return expecting(call("POST", `/payouts/${String(body.payoutId)}/cancel`), 200, {
        status: "cancelled",
      });
    },
  ],
  "POST /payouts/{id}/retry": [
    "waits for code",
    async (it) => {
      const { body } = await payoutOf(it);
      return expecting(call("POST", `/payouts/${String(body.payoutId)}/retry`), 409, {
        code: "invalid_state",
      });
    },
  ],
  ...PEOPLE_ROWS,
  ...RECORD_ROWS,
  ...SERVICE_ROWS,
};

let before: ReadonlyMap<string, number>;
beforeAll(async () => {
  await startWorld();
  before = await countRows();
});

const written = contracts.filter(({ auth, method }) => auth !== "public" && method !== "GET");
const nameOf = ({ method, path }: { method: string; path: string }): string =>
  `${method} ${path}`;

test("every route that writes and takes a token has an attack in the table", () => {
  expect(Object.keys(TABLE).sort()).toEqual(written.map(nameOf).sort());
});

test.each(written.map(nameOf))(
  "%s does no more for a token alone than the table says",
  async (name) => {
    const attack = TABLE[name]?.[1];
    if (attack === undefined) throw new Error("The table has no attack on this route.");
    const { got, expected } = await attack(attackFixture());
    expect(got).toMatchObject(expected);
  },
);

test("after all attacks no money has left, no operation was accepted, and no authority is wider", async () => {
  const { customer, eve, accounts } = attackFixture();
  const { prisma } = theApi().services.database;
  const { projectId } = await prisma.wallet.findUniqueOrThrow({
    where: { id: customer.treasuryId },
  });
  const usdc =
    chains.find(({ id }) => id === ONE)?.tokens.find(({ symbol }) => symbol === "USDC")
      ?.address ?? "native";
  const rpcUrl = chains.find(({ id }) => id === ONE)?.rpcUrls[0] ?? "";
  expect(await balanceOnChain(rpcUrl, usdc, customer.treasury)).toBe(100_000_000n);
  expect(await balanceOnChain(rpcUrl, usdc, eve)).toBe(0n);
  expect(
    await prisma.operation.count({
      where: { projectId, acceptedAt: { not: null }, kind: { not: "deposit" } },
    }),
  ).toBe(0);
  expect(
    await prisma.payout.count({
      where: { projectId, status: { notIn: ["pending", "cancelled"] } },
    }),
  ).toBe(0);
  const left = await call("GET", `/global-accounts/${accounts[0]}`);
  expect(left.body).toMatchObject({ balance: { posted: "21" } });
  expect((await call("GET", `/global-accounts/${accounts[1]}`)).body).toMatchObject({
    balance: { posted: "0" },
  });
  expect(
    await prisma.apiKey.count({ where: { projectId, otpPolicy: "exempt", revokedAt: null } }),
  ).toBe(0);
  expect((await call("GET", "/policies")).body).toMatchObject({ dailyCapUsd: "1000" });
  expect((await call("GET", "/me")).body).toMatchObject({
    email: customer.email,
    emailVerified: true,
  });
});

test("nothing that a token alone made reads, receives, signs or runs after the victim has ended all sessions", async () => {
  const [thief, own] = [await webhookReceiver(), await webhookReceiver()];
  await settleIn(thief);
  expect(await unclassified(before)).toEqual([]);
  const victim = await attackFixture().signInAgain();
  expect((await call("DELETE", "/me/sessions", undefined, victim.accessToken)).status).toBe(
    200,
  );
  await checkAfterlife(victim, { thief, own });
});
