import { beforeEach, expect, test } from "vitest";
import { testApi } from "@/lib/dev/testing/api";
import {
  approvalSteps,
  callerOf,
  EXEMPT,
  KEYS,
  signed,
} from "@/lib/dev/testing/approval-caller";
import { testAccount } from "@/lib/dev/testing/factories";

/** Only tests move this clock, also between tests: a code can be asked for once a minute. */
let now = new Date();
const advance = (seconds: number): void => {
  now = new Date(now.getTime() + seconds * 1000);
};
const api = await testApi({ devnet: false, overrides: { clock: { now: () => now } } });
const { newPerson, ask, mailedCode, auditOf, madeKey } = approvalSteps(api);
beforeEach(() => advance(61));

test("a bearer token alone can create a key with a name, and that key needs codes", async () => {
  const who = await newPerson();
  const made = await who.post(KEYS, { name: "CI" });
  expect(made).toMatchObject({
    status: 201,
    body: { otp: "required", dailyCapUsd: null, recipients: [] },
  });
  const restricted = {
    name: "Till",
    recipients: [testAccount().address],
    scopes: ["transfers:write"],
  };
  expect(await who.post(KEYS, restricted)).toMatchObject({
    status: 201,
    body: { otp: "required" },
  });
});

test("a bearer token alone cannot create an exempt key, widen a key, raise a cap or replace the address for codes", async () => {
  const who = await newPerson();
  await api.verifiedEmail(who.session);
  advance(61);
  const attack = { name: "x", otp: "exempt", dailyCapUsd: "999999999999999999" };
  expect(await who.post(KEYS, attack)).toMatchObject({
    status: 400,
    body: { code: "invalid_request" },
  });
  const { body: plain } = await who.post(KEYS, {
    name: "x",
    scopes: ["balances:read"],
    recipients: [testAccount().address],
  });
  const key = `${KEYS}/${String(plain.id)}`;
  const attempts = [
    await who.post(KEYS, EXEMPT),
    await who.patch("/policies", { dailyCapUsd: "1000.000001" }),
    await who.patch("/me", { email: "thief@example.test" }),
    await who.patch(key, { otp: "exempt", dailyCapUsd: "0.01" }),
    await who.patch(key, { scopes: ["balances:read", "transfers:write"] }),
    await who.patch(key, { recipients: [] }),
    await who.patch(key, { recipients: [testAccount().address] }),
  ];
  for (const { status, body } of attempts)
    expect([status, body.code]).toEqual([409, "approval_required"]);
  expect((await who.keys()).map(({ otp }) => otp)).toEqual(["required"]);
  expect((await who.call("GET", "/policies")).body.dailyCapUsd).toBe("1000");
});

test("a bearer token alone cannot link a wallet and approve with that wallet", async () => {
  const who = await newPerson();
  const wallet = testAccount();
  const { body } = await who.post("/wallets/link/init", { address: wallet.address });
  const signature = await wallet.signMessage({ message: body.message ?? "" });
  expect(
    (await who.post("/wallets/link/verify", { address: wallet.address, signature })).status,
  ).toBe(200);
  const asked = await ask(who);
  const answer = await who.post(KEYS, { ...EXEMPT, ...(await signed(asked, wallet)) });
  expect(answer).toMatchObject({ status: 401, body: { code: "invalid_signature" } });
  expect(answer.body.message).toContain(who.session.account.address);
  expect(await who.keys()).toEqual([]);
});

test("the message of an approval states site, person, every value, id and expiry", async () => {
  const who = await newPerson();
  const shop = testAccount().address;
  const { message, approvalId } = await ask(who, {
    ...EXEMPT,
    name: 'Shop" - Expires: never',
    dailyCapUsd: "500.50",
    scopes: ["transfers:write", "balances:read"],
    recipients: [shop],
    expiresAt: "2099-01-01T00:00:00Z",
  });
  const { projects, address } = (await who.call("GET", "/me")).body as {
    projects: { id: string }[];
    address: string;
  };
  expect(message.split("\n")).toEqual([
    "http://localhost:3000 asks for your approval of a change.",
    "",
    String.raw`Create the API key "Shop\" - Expires: never"`,
    "- May: transfers:write, balances:read",
    "- Moves money without a code: up to 500.5 US dollars per UTC day",
    `- Sends to: ${shop}`,
    "- Is used from: any network",
    "- Expires: 2099-01-01T00:00:00.000Z",
    "",
    `Project: "My project" (${projects[0]?.id ?? ""})`,
    `Account: ${address}`,
    `Approval: ${approvalId}`,
    `Expires: ${new Date(now.getTime() + 600_000).toISOString()}`,
    "",
    "This approves exactly this change, once. It sends no transaction.",
  ]);
});

test("an approval by the mailed code creates the key; the mail shows the whole message and the audit log names the code", async () => {
  const who = await newPerson();
  const email = await api.verifiedEmail(who.session);
  const asked = await ask(who);
  const otp = await mailedCode(who, email, asked.approvalId);
  const [mail] = (await api.services.inbox?.list({ to: email, limit: 1 })) ?? [];
  expect(mail?.text).toContain(asked.message);
  const made = await who.post(KEYS, {
    ...EXEMPT,
    approval: { approvalId: asked.approvalId, otp },
  });
  expect(made).toMatchObject({ status: 201, body: { otp: "exempt", dailyCapUsd: "500" } });
  const [entry] = await auditOf(String(made.body.id), "api_key.created");
  expect(entry).toMatchObject({
    data: { approvalId: asked.approvalId, approvedBy: "code", dailyCapUsd: "500" },
  });
});

test("an approval by the wallet's signature needs no e-mail address; a request for a code says that the address is missing", async () => {
  const who = await newPerson();
  const asked = await ask(who);
  const { approvalId } = asked;
  expect(await who.post("/swap/request-otp", { approvalId })).toMatchObject({
    status: 409,
    body: { code: "otp_channel_missing" },
  });
  const made = await who.post(KEYS, {
    ...EXEMPT,
    ...(await signed(asked, who.session.account)),
  });
  expect(made.status).toBe(201);
  const [entry] = await auditOf(String(made.body.id), "api_key.created");
  expect(entry).toMatchObject({ data: { approvalId, approvedBy: "signature" } });
});

test("an approval covers exactly one change: any other value needs a new approval, and this one stays valid", async () => {
  const who = await newPerson();
  const asked = await ask(who);
  const approval = await signed(asked, who.session.account);
  const others = [
    { ...EXEMPT, dailyCapUsd: "501" },
    { ...EXEMPT, name: "Shop " + "2" },
    { ...EXEMPT, scopes: ["transfers:write"] },
    { ...EXEMPT, recipients: [testAccount().address] },
    { ...EXEMPT, expiresAt: "2099-01-01T00:00:00Z" },
  ];
  for (const other of others) {
    const refused = await who.post(KEYS, { ...other, ...approval });
    expect(refused).toMatchObject({ status: 409, body: { code: "approval_required" } });
    expect(refused.body.approvalId).not.toBe(asked.approvalId);
  }
  expect(await who.patch("/policies", { dailyCapUsd: "5000", ...approval })).toMatchObject({
    status: 409,
  });
  expect(await who.keys()).toEqual([]);
  // The same values in another spelling are the same change.
  expect(await who.post(KEYS, { ...EXEMPT, dailyCapUsd: "500.00", ...approval })).toMatchObject(
    {
      status: 201,
    },
  );
});

test("an approval is used once: of 200 equal concurrent requests one creates a key", async () => {
  const who = await newPerson();
  const body = { ...EXEMPT, ...(await signed(await ask(who), who.session.account)) };
  const answers = await Promise.all(Array.from({ length: 200 }, () => who.post(KEYS, body)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  const refused = answers
    .filter(({ status }) => status !== 201)
    .map(({ status, body: { code } }) => `${String(status)} ${String(code)}`);
  expect(new Set(refused)).toEqual(new Set(["409 invalid_state"]));
  expect(await who.keys()).toHaveLength(1);
  const email = await api.verifiedEmail(who.session);
  const asked = await ask(who);
  const otp = await mailedCode(who, email, asked.approvalId);
  const byCode = { ...EXEMPT, approval: { approvalId: asked.approvalId, otp } };
  const more = await Promise.all(Array.from({ length: 200 }, () => who.post(KEYS, byCode)));
  expect(more.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(await who.keys()).toHaveLength(2);
}, 120_000);

test("an approval ends after ten minutes", async () => {
  const who = await newPerson();
  const asked = await ask(who);
  const approval = await signed(asked, who.session.account);
  advance(600);
  expect(await who.post("/swap/request-otp", { approvalId: asked.approvalId })).toMatchObject({
    status: 409,
    body: { code: "invalid_state" },
  });
  const late = await who.post(KEYS, { ...EXEMPT, ...approval });
  expect(late).toMatchObject({ status: 409, body: { code: "approval_required" } });
  expect(late.body.approvalId).not.toBe(asked.approvalId);
  expect(await who.keys()).toEqual([]);
});

test("an approval of another person, or of another project, is not accepted", async () => {
  const { database, projects } = api.services;
  const [ada, eve] = [await newPerson(), await newPerson()];
  const { projects: own, id: adaId } = (await ada.call("GET", "/me")).body as {
    projects: { id: string }[];
    id: string;
  };
  const { id: eveId } = (await eve.call("GET", "/me")).body as { id: string };
  const projectId = own[0]?.id ?? "";
  await database.prisma.membership.create({
    data: { projectId, userId: eveId, role: "owner", createdAt: now },
  });
  const second = await database.transaction((tx) =>
    projects.create(tx, { name: "B", ownerId: adaId }),
  );
  const eveThere = callerOf(api, eve.session, { "x-project-id": projectId });
  const adaThere = callerOf(api, ada.session, { "x-project-id": second.projectId });
  // Memberships are remembered for less than a second.
  await expect
    .poll(async () => (await eveThere.call("GET", KEYS)).status, { timeout: 5000 })
    .toBe(200);
  await expect
    .poll(async () => (await adaThere.call("GET", KEYS)).status, { timeout: 5000 })
    .toBe(200);
  const asked = await ask(ada);
  for (const signer of [ada.session.account, eve.session.account]) {
    const approval = await signed(asked, signer);
    for (const other of [eve, eveThere, adaThere]) {
      const refused = await other.post(KEYS, { ...EXEMPT, ...approval });
      expect(refused).toMatchObject({ status: 409, body: { code: "approval_required" } });
      expect(refused.body.approvalId).not.toBe(asked.approvalId);
    }
  }
  for (const other of [eve, eveThere, adaThere]) {
    expect(
      await other.post("/swap/request-otp", { approvalId: asked.approvalId }),
    ).toMatchObject({
      status: 404,
    });
    expect(await other.keys()).toEqual([]);
  }
  expect(
    (await ada.post(KEYS, { ...EXEMPT, ...(await signed(asked, ada.session.account)) })).status,
  ).toBe(201);
});

test("an approval with a wrong code, a code of another approval, or another wallet changes nothing", async () => {
  const who = await newPerson();
  const email = await api.verifiedEmail(who.session);
  const [asked, other] = [await ask(who), await ask(who, { ...EXEMPT, name: "Other" })];
  const otp = await mailedCode(who, email, asked.approvalId);
  const wrong = otp === "000000" ? "000001" : "000000";
  const approve = (approval: object) =>
    who.post(KEYS, { ...EXEMPT, approval: { approvalId: asked.approvalId, ...approval } });
  expect(await approve({ otp: wrong })).toMatchObject({
    status: 422,
    body: { code: "otp_invalid" },
  });
  const elsewhere = {
    ...EXEMPT,
    name: "Other",
    approval: { approvalId: other.approvalId, otp },
  };
  expect(await who.post(KEYS, elsewhere)).toMatchObject({
    status: 409,
    body: { code: "otp_required" },
  });
  const { approval } = await signed(asked, testAccount());
  expect(await approve(approval)).toMatchObject({
    status: 401,
    body: { code: "invalid_signature" },
  });
  const { approval: overOther } = await signed(
    { ...asked, message: other.message },
    who.session.account,
  );
  expect(await approve(overOther)).toMatchObject({
    status: 401,
    body: { code: "invalid_signature" },
  });
  for (const malformed of [
    {},
    { otp, signature: "0x12" },
    { otp: "12345" },
    { signature: "abc" },
  ])
    expect(await approve(malformed)).toMatchObject({
      status: 400,
      body: { code: "invalid_request" },
    });
  expect(await who.keys()).toEqual([]);
  expect((await approve({ otp })).status).toBe(201);
});

test("an approval leaves the Idempotency-Key free until the change is made, and replays after", async () => {
  const who = await newPerson();
  const email = await api.verifiedEmail(who.session);
  const headers = { "idempotency-key": "make-it-once" };
  const first = await who.post(KEYS, EXEMPT, headers);
  expect(first).toMatchObject({ status: 409, body: { code: "approval_required" } });
  const approvalId = String(first.body.approvalId);
  const otp = await mailedCode(who, email, approvalId);
  const wrong = {
    ...EXEMPT,
    approval: { approvalId, otp: otp === "000000" ? "000001" : "000000" },
  };
  expect((await who.post(KEYS, wrong, headers)).status).toBe(422);
  const body = { ...EXEMPT, approval: { approvalId, otp } };
  const made = await who.post(KEYS, body, headers);
  expect(made).toMatchObject({ status: 201, replayed: false });
  const again = await who.post(KEYS, body, headers);
  expect(again).toMatchObject({
    status: 201,
    replayed: true,
    body: { secret: made.body.secret },
  });
  expect(await who.keys()).toHaveLength(1);
});

test("the daily cap of a project limits the cap of a key, and the refusal names the field", async () => {
  const who = await newPerson();
  const refused = await who.post(KEYS, { ...EXEMPT, dailyCapUsd: "1000.01" });
  expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request" } });
  expect(refused.body.details).toEqual([expect.objectContaining({ path: "dailyCapUsd" })]);
  await ask(who, { ...EXEMPT, dailyCapUsd: "1000" });
});

test("raising the daily cap of a project needs an approval, lowering it does not, and the audit log has both", async () => {
  const who = await newPerson();
  const { projects, id } = (await who.call("GET", "/me")).body as {
    projects: { id: string }[];
    id: string;
  };
  const first = await who.patch("/policies", { dailyCapUsd: "5000" });
  expect(first).toMatchObject({ status: 409, body: { code: "approval_required" } });
  expect(first.body.message).toContain(
    "- Daily cap of the project: 5000 US dollars (now 1000)",
  );
  const asked = {
    approvalId: String(first.body.approvalId),
    message: String(first.body.message),
  };
  const approval = await signed(asked, who.session.account);
  expect(await who.patch("/policies", { dailyCapUsd: "6000", ...approval })).toMatchObject({
    status: 409,
  });
  const raised = await who.patch("/policies", { dailyCapUsd: "5000", ...approval });
  expect(raised).toMatchObject({
    status: 200,
    body: { dailyCapUsd: "5000", spentTodayUsd: "0" },
  });
  const lowered = await who.patch("/policies", { dailyCapUsd: "10" });
  expect(lowered).toMatchObject({ status: 200, body: { dailyCapUsd: "10" } });
  // The approval was used, and it covered a rise from 1,000 US dollars, not one from 10.
  expect(await who.patch("/policies", { dailyCapUsd: "5000", ...approval })).toMatchObject({
    status: 409,
  });
  expect(await auditOf(projects[0]?.id ?? "", "policy.updated")).toEqual([
    {
      actor: id,
      data: {
        dailyCapUsd: "5000",
        before: "1000",
        approvalId: asked.approvalId,
        approvedBy: "signature",
      },
    },
    { actor: id, data: { dailyCapUsd: "10", before: "5000" } },
  ]);
});

test("a key is narrowed without an approval, and cannot be widened back without one", async () => {
  const who = await newPerson();
  const [shop, bank] = [testAccount().address, testAccount().address];
  const key = await madeKey(who);
  const narrower = [
    { name: "Till" },
    { dailyCapUsd: "100" },
    { scopes: ["transfers:write", "balances:read"] },
    { scopes: ["transfers:write"] },
    { recipients: [shop, bank] },
    { recipients: [shop] },
    { expiresAt: "2099-01-01T00:00:00.000Z" },
    { expiresAt: "2098-01-01T00:00:00.000Z" },
    { otp: "required" },
  ];
  for (const change of narrower)
    expect(await who.patch(key, change)).toMatchObject({ status: 200, body: change });
  const wider = [
    { otp: "exempt", dailyCapUsd: "1" },
    { scopes: ["transfers:write", "balances:read"] },
    { recipients: [shop, bank] },
    { recipients: [bank] },
    { recipients: [] },
    { expiresAt: "2099-01-01T00:00:00.000Z" },
    { expiresAt: null },
  ];
  for (const change of wider) {
    const refused = await who.patch(key, change);
    expect([change, refused.status, refused.body.code]).toEqual([
      change,
      409,
      "approval_required",
    ]);
    const asked = {
      approvalId: String(refused.body.approvalId),
      message: String(refused.body.message),
    };
    const approval = await signed(asked, who.session.account);
    expect(await who.patch(key, { ...change, name: "More", ...approval })).toMatchObject({
      status: 409,
    });
    expect(await who.patch(key, { ...change, ...approval })).toMatchObject({
      status: 200,
      body: change,
    });
    const [entry] = (await auditOf(key.slice(KEYS.length + 1), "api_key.updated")).slice(-1);
    expect(entry).toMatchObject({
      data: { approvalId: asked.approvalId, approvedBy: "signature" },
    });
    // Back to what it was, so that the next one is wider again.
    const back = {
      otp: "required",
      scopes: ["transfers:write"],
      recipients: [shop],
      expiresAt: "2098-01-01T00:00:00.000Z",
    };
    const undone = await who.patch(key, back);
    if (undone.status === 409) {
      const again = {
        approvalId: String(undone.body.approvalId),
        message: String(undone.body.message),
      };
      expect(
        (await who.patch(key, { ...back, ...(await signed(again, who.session.account)) }))
          .status,
      ).toBe(200);
    }
  }
});

test("a change of a key respects the project's cap, requires a cap for an exempt key, and is refused for a revoked or foreign key", async () => {
  const [who, eve] = [await newPerson(), await newPerson()];
  const key = await madeKey(who, { name: "CI" });
  const above = await who.patch(key, { otp: "exempt", dailyCapUsd: "1001" });
  expect(above).toMatchObject({ status: 400, body: { details: [{ path: "dailyCapUsd" }] } });
  for (const wrong of [
    {},
    { otp: "exempt" },
    { dailyCapUsd: "5" },
    { scopes: [] },
    { expiresAt: "2020-01-01T00:00:00Z" },
  ])
    expect(await who.patch(key, wrong)).toMatchObject({
      status: 400,
      body: { code: "invalid_request" },
    });
  const missing = await who.patch(`${KEYS}/key_01980000-0000-7000-8000-000000000000`, {
    name: "x",
  });
  const foreign = await eve.patch(key, { name: "x" });
  expect(foreign.status).toBe(404);
  expect({ ...foreign.body, requestId: "" }).toEqual({ ...missing.body, requestId: "" });
  expect((await who.call("DELETE", key)).status).toBe(200);
  expect(await who.patch(key, { name: "x" })).toMatchObject({
    status: 409,
    body: { code: "invalid_state" },
  });
});
