/**
 * Money moves that are approved by an authenticator app or a passkey, in place of a mailed code.
 */
import { beforeAll, expect, test } from "vitest";
import { requestOtp } from "@/lib/contracts/swap";
import { stepAt, totpCode } from "@/lib/trust/proofs/totp";
import { testApi } from "@/lib/dev/testing/api";
import { callerOf, signed, type Caller } from "@/lib/dev/testing/approval-caller";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { passkeyDevice } from "@/lib/dev/testing/passkey-device";
import { fromBase32 } from "@/lib/dev/testing/totp-app";

const api = await testApi();
const { chains } = await testDevnet();
const chainId = chains[0]?.id ?? 0;
const device = passkeyDevice();
let customer: Customer;
let who: Caller;
let secret: Buffer;

const approved = async (path: string, body: object = {}): Promise<Record<string, unknown>> => {
  const asked = await who.post(path, body);
  const { approvalId = "", message = "" } = asked.body;
  return (
    await who.post(path, {
      ...body,
      ...(await signed({ approvalId, message }, who.session.account)),
    })
  ).body;
};

beforeAll(async () => {
  customer = await newCustomer(api);
  who = callerOf(api, customer.session);
  await fund(customer.session.client, customer.treasury, {
    chainId,
    token: "USDC",
    amount: "100",
  });
  const app = await approved("/me/factors/totp");
  secret = fromBase32(String(app.secret));
  // The tests use codes of the step after theirs, so that no code has been used here.
  const code = totpCode(secret, stepAt(api.services.clock.now()));
  expect(await who.post("/me/factors/totp/confirm", { code })).toMatchObject({ status: 200 });
  const { options } = (await approved("/me/passkeys/options", { name: "Laptop" })) as {
    options: { challenge: string };
  };
  const credential = device.create(options.challenge);
  expect(await who.post("/me/passkeys", { credential })).toMatchObject({ status: 201 });
});

const transfer = async (amount: string): Promise<string> => {
  const { body } = await who.post("/transfers", {
    fromWalletId: customer.treasuryId,
    toAddress: testAccount().address,
    fromChainId: chainId,
    toChainId: chainId,
    token: "USDC",
    amount,
  });
  return String(body.transferId);
};

const challengeFor = async (subject: object): Promise<string> => {
  const { body } = await who.post("/swap/request-otp", { ...subject, channel: "passkey" });
  const { channel, passkey } = requestOtp.response.parse(body);
  expect(channel).toBe("passkey");
  return passkey?.challenge ?? "";
};

/**
 * The means of approval or execution that the audit log names for a subject, each with its action;
 * without ids.
 */
const meansOf = async (subject: string): Promise<unknown[]> => {
  const rows = await api.services.database.prisma.auditEvent.findMany({
    where: { subject, action: { not: "factor.used" } },
    orderBy: { id: "asc" },
  });
  return rows.flatMap(({ action, data }) => {
    const { means } = data as { means?: unknown };
    return means === undefined ? [] : [[action, means]];
  });
};

test("a code of the authenticator app approves one transfer, and not a second one", async () => {
  const [first, second] = [await transfer("1"), await transfer("2")];
  const totp = totpCode(secret, stepAt(api.services.clock.now()) + 1);
  const wrong = totp === "000000" ? "000001" : "000000";
  expect(await who.post("/swap/prepare", { transferId: first, totp: wrong })).toMatchObject({
    status: 422,
    body: { code: "otp_invalid" },
  });
  expect(await who.post("/swap/prepare", { transferId: first, totp })).toMatchObject({
    status: 200,
  });
  expect(await who.post("/swap/prepare", { transferId: second, totp })).toMatchObject({
    body: { code: "otp_invalid" },
  });
  const executed = await who.post("/swap/execute", { transferId: first });
  expect(executed).toMatchObject({ status: 202 });
  expect(await meansOf(first)).toEqual([["transfer.approved", "totp"]]);
  expect(await meansOf(String(executed.body.operationId))).toEqual([
    ["operation.executed", "totp"],
  ]);
  expect(await who.post("/swap/execute", { transferId: second })).toMatchObject({
    body: { code: "invalid_state" },
  });
});

test("a passkey approves the transfer whose digest it signed, and no other", async () => {
  const [first, second] = [await transfer("3"), await transfer("4")];
  const passkey = device.get(await challengeFor({ transferId: first }));
  expect(await who.post("/swap/prepare", { transferId: second, passkey })).toMatchObject({
    body: { code: "invalid_signature" },
  });
  expect(await who.post("/swap/prepare", { transferId: first, passkey })).toMatchObject({
    status: 200,
  });
});

test("a passkey approves a payout", async () => {
  const payout = await who.post("/payouts/bulk/wallets", {
    chainId,
    transfers: [{ address: testAccount().address, amount: "1", token: "USDC" }],
  });
  const payoutId = String(payout.body.payoutId);
  const passkey = device.get(await challengeFor({ payoutId }));
  expect(await who.post(`/payouts/${payoutId}/approve`, {})).toMatchObject({ status: 400 });
  expect(
    await who.post(`/payouts/${payoutId}/approve`, { passkey, otp: "123456" }),
  ).toMatchObject({
    status: 400,
  });
  expect(await who.post(`/payouts/${payoutId}/approve`, { passkey })).toMatchObject({
    status: 202,
  });
  expect(await meansOf(payoutId)).toEqual([["payout.approved", "passkey"]]);
});
