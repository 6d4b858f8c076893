import { createSiweMessage } from "viem/siwe";
import { expect, test, vi } from "vitest";
import { updateApiKey } from "@/lib/contracts/api-keys";
import { createNonce, createToken, logout, verifyEmail } from "@/lib/contracts/auth";
import { createContact, updateContact } from "@/lib/contracts/contacts";
import { createProject } from "@/lib/contracts/members";
import {
  createSmartAccount,
  initWalletLink,
  labelWallet,
  verifyWalletLink,
} from "@/lib/contracts/wallets";
import {
  createWebhookEndpoint,
  updateWebhookEndpoint,
} from "@/lib/contracts/webhook-endpoints";
import { testApi } from "@/lib/dev/testing/api";
import { approvedKey, sendEmailCode, withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";

const CHAIN = 31337;
const ADDRESS = "203.0.113.78";
const EMAIL = "origin@example.com";
const api = await testApi();
const { prisma } = api.services.database;
const account = testAccount();

/** Signs in from `ADDRESS`; every call of the client comes from there. */
const signIn = async () => {
  const from = { "x-forwarded-for": ADDRESS };
  const anybody = api.client(from);
  const { nonce, domain, uri } = await anybody.call(createNonce, { body: {} });
  const message = createSiweMessage({
    ...{
      address: account.address,
      chainId: CHAIN,
      domain,
      nonce,
      uri,
      version: "1",
      issuedAt: new Date(),
    },
  });
  const signature = await account.signMessage({ message });
  const { accessToken } = await anybody.call(createToken, { body: { message, signature } });
  return api.client({ ...from, authorization: `Bearer ${accessToken}` });
};

test("what a person does, from the first sign-in to the sign-out, is recorded with its request, its address and what it replaced", async () => {
  const person = await signIn();
  await sendEmailCode(account, person, EMAIL);
  await person.call(verifyEmail, { body: { code: await api.readCode(EMAIL) } });
  // Raises the daily cap of the project first.
  const key = await approvedKey(account, person, {
    name: "Shop",
    otp: "exempt",
    dailyCapUsd: "2000",
  });
  await withApproval(account, (approval) =>
    person.call(updateApiKey, {
      params: { id: key.id },
      body: { name: "Till", ...(approval ? { approval } : {}) },
    }),
  );
  const { message } = await person.call(initWalletLink, { body: { address: account.address } });
  const signature = await account.signMessage({ message });
  await person.call(verifyWalletLink, { body: { address: account.address, signature } });
  const { id: walletId } = await person.call(createSmartAccount, {
    body: { ownerAddress: account.address, chainId: CHAIN, label: "Savings" },
  });
  await person.call(labelWallet, { params: { id: walletId }, body: { label: "Reserve" } });
  const contact = { address: testAccount().address, name: "Acme", tags: ["supplier"] };
  const { id: contactId } = await person.call(createContact, { body: contact });
  await person.call(createContact, { body: { ...contact, name: "Acme Ltd" } });
  await person.call(updateContact, { params: { id: contactId }, body: { tags: [] } });
  const hook = { url: "http://127.0.0.1:9999/hook", events: ["operation.completed"] };
  const { id: hookId } = await person.call(createWebhookEndpoint, { body: hook });
  await person.call(updateWebhookEndpoint, {
    params: { id: hookId },
    body: { status: "paused" },
  });
  await person.call(createProject, { body: { name: "Second" } });
  await person.call(logout, {});

  const { id: actor } = await prisma.user.findUniqueOrThrow({
    where: { address: account.address },
  });
  const rows = await vi.waitFor(async () => {
    const found = await prisma.auditEvent.findMany({
      where: { actor },
      orderBy: { id: "asc" },
    });
    expect(found.map(({ action }) => action)).toContain("session.revoked");
    return found;
  }, 20_000);
  const without = rows.filter(
    ({ requestId, clientAddress }) => requestId === null || clientAddress !== ADDRESS,
  );
  expect(without.map(({ action }) => action)).toEqual([]);
  expect([...new Set(rows.map(({ action }) => action))]).toEqual(
    expect.arrayContaining([
      ...[
        "user.created",
        "project.created",
        "session.created",
        "session.revoked",
        "email.verified",
      ],
      ...[
        "policy.updated",
        "api_key.created",
        "api_key.updated",
        "wallet.created",
        "wallet.labelled",
      ],
      ...[
        "contact.saved",
        "contact.updated",
        "webhook_endpoint.created",
        "webhook_endpoint.updated",
      ],
    ]),
  );
  const replaced = (action: string) =>
    rows.flatMap(({ action: one, data }) =>
      one === action ? [(data as { before?: unknown }).before] : [],
    );
  expect({
    key: replaced("api_key.updated"),
    wallet: replaced("wallet.labelled"),
    saved: replaced("contact.saved"),
    updated: replaced("contact.updated"),
    endpoint: replaced("webhook_endpoint.updated"),
  }).toEqual({
    key: [["name: Shop"]],
    wallet: ["Savings"],
    saved: [undefined, ["name: Acme"]],
    updated: [["tags: supplier"]],
    endpoint: [["status: active"]],
  });
});
