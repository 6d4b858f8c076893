import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount, testKey } from "@/lib/dev/testing/factories";
import { INIT, VERIFY, LIST, walletLinker } from "@/lib/dev/testing/wallet-linker";

const api = await testApi();
const { send, person, signed, linked } = walletLinker(api);

test("an unlinked wallet leaves the project's wallets; linked again it keeps its id", async () => {
  const who = await person();
  const wallet = testAccount();
  const first = (await linked(who, wallet)).body as { wallet: { walletId: string } };
  const gone = await who.unlink(wallet.address.toLowerCase());
  expect(gone).toMatchObject({
    status: 200,
    body: { address: wallet.address, unlinkedAt: expect.any(String) as string },
  });
  expect(await who.list()).toEqual([]);
  expect((await who.wallets()).map(({ kind }) => kind)).toEqual(["treasury"]);
  const { projectId } = await api.services.database.prisma.wallet.findUniqueOrThrow({
    where: { id: first.wallet.walletId },
  });
  expect(await api.services.wallets.find(projectId, wallet.address)).toBeNull();
  expect(await api.services.wallets.findById(projectId, first.wallet.walletId)).toBeNull();
  expect(await who.unlink(wallet.address)).toMatchObject({ status: 404, code: "not_found" });
  expect((await linked(who, wallet)).body).toMatchObject({
    wallet: { walletId: first.wallet.walletId },
  });
});

test("a wallet cannot be unlinked while an operation uses it as a source", async () => {
  const who = await person();
  const wallet = testAccount();
  const { walletId } = ((await linked(who, wallet)).body as { wallet: { walletId: string } })
    .wallet;
  const { prisma } = api.services.database;
  const { projectId } = await prisma.wallet.findUniqueOrThrow({ where: { id: walletId } });
  const operationId = newId("operation");
  const at = new Date();
  await prisma.operation.create({
    data: {
      id: operationId,
      projectId,
      kind: "transfer",
      status: "processing",
      subStatus: "source_submitted",
      request: {},
      quoted: {},
      minimumBase: 1,
      createdBy: "usr_1",
      createdAt: at,
      updatedAt: at,
      legs: {
        create: {
          projectId,
          id: newId("leg"),
          position: 0,
          walletId,
          walletAddress: wallet.address,
          kind: "transfer",
          sourceChainId: 31337,
          destChainId: 31337,
          state: "submitted",
          routeLeg: {},
          amountBase: 1,
          via: "transaction",
          gas: {},
          fromBlock: 0,
          updatedAt: at,
        },
      },
    },
  });
  expect(await who.unlink(wallet.address)).toMatchObject({
    status: 409,
    code: "invalid_state",
    body: { operationId },
  });
  expect(await who.list()).toHaveLength(1);
  await prisma.operation.update({
    where: { id: operationId },
    data: { status: "completed", subStatus: "full" },
  });
  expect((await who.unlink(wallet.address)).status).toBe(200);
});

test("a wallet that is unlinked in one project stays linked in another, and stays the person's", async () => {
  const session = await api.signIn();
  const { projects, database } = api.services;
  const user = await database.prisma.user.findUniqueOrThrow({
    where: { address: session.account.address },
  });
  const { projectId } = await database.transaction((tx) =>
    projects.create(tx, { name: "Shop", ownerId: user.id }),
  );
  const ada = await person(session);
  const shop = { ...ada, ...ada.as({ "x-project-id": projectId }) };
  const [eve, wallet] = [await person(), testAccount()];
  expect((await linked(ada, wallet)).status).toBe(200);
  // A message for one project links in that one alone.
  const request = await signed(shop, wallet);
  expect(request.message).toContain("to the project Shop");
  expect(
    (await ada.verify({ address: wallet.address, signature: request.signature })).status,
  ).toBe(410);
  expect(
    (await shop.verify({ address: wallet.address, signature: request.signature })).status,
  ).toBe(200);
  expect((await ada.unlink(wallet.address)).status).toBe(200);
  expect([await ada.list(), await shop.list()].map(({ length }) => length)).toEqual([0, 1]);
  expect(await eve.init({ address: wallet.address })).toMatchObject({
    code: "wallet_already_linked",
  });
  expect((await shop.unlink(wallet.address)).status).toBe(200);
  expect((await eve.init({ address: wallet.address })).status).toBe(200);
});

test("unlinking a wallet of another person, or of nobody, is 404", async () => {
  const [ada, eve] = [await person(), await person()];
  const wallet = testAccount();
  await linked(ada, wallet);
  const foreign = await eve.unlink(wallet.address);
  const missing = await eve.unlink(testAccount().address);
  expect(foreign.status).toBe(404);
  expect({ ...foreign.body, requestId: "" }).toEqual({ ...missing.body, requestId: "" });
  expect(await ada.list()).toHaveLength(1);
});

test("every link route answers 403 to API keys and 401 without credentials", async () => {
  const session = await api.signIn();
  const { secret } = await api.createKey(session);
  const { address } = testAccount();
  const routes = [
    ["POST", INIT, { address }],
    ["POST", VERIFY, { address, signature: "0x1234" }],
    ["GET", LIST, undefined],
    ["DELETE", `${LIST}/${address}`, undefined],
  ] as const;
  for (const [method, path, body] of routes) {
    const asKey = await send(method, path, { "x-api-key": secret }, body);
    expect([path, asKey.status, asKey.code]).toEqual([path, 403, "forbidden"]);
    expect((await send(method, path, {}, body)).status).toBe(401);
  }
});

test("invalid input is refused with the name of the field", async () => {
  const who = await person();
  const { address } = testAccount();
  for (const body of [
    {},
    { address: "0x12" },
    { address: "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed" },
  ]) {
    expect(await who.init(body)).toMatchObject({
      status: 400,
      code: "invalid_request",
      body: { details: [{ path: "address" }] },
    });
  }
  const chain = await who.init({ address, chainId: 1 });
  expect(chain).toMatchObject({
    status: 422,
    code: "unsupported_chain",
    body: { details: [{ path: "chainId" }] },
  });
  for (const signature of [undefined, "hello", 5, `0x${"ab".repeat(40_000)}`]) {
    const refused = await who.verify({ address, signature });
    expect(refused).toMatchObject({
      status: 400,
      code: "invalid_request",
      body: { details: [{ path: "signature" }] },
    });
  }
  expect(await who.unlink("0x12")).toMatchObject({ status: 404, code: "not_found" });
});

test("a replay of verify gets the first answer and links once", async () => {
  const session = await api.signIn(testKey());
  const who = (await person(session)).as({ "idempotency-key": "link-1" });
  const wallet = privateKeyToAccount(testKey());
  const opening = await person(session);
  const { address, signature } = await signed(opening, wallet);
  const [first, second] = [
    await who.verify({ address, signature }),
    await who.verify({ address, signature }),
  ];
  expect(first.status).toBe(200);
  expect(second.body).toEqual(first.body);
});
