import { expect, test } from "vitest";
import { createDatabase } from "@/lib/platform/db/client";
import { testDatabase } from "@/lib/dev/testing/database";
import { createSigningGate } from "./service";
import { createSigningRepository } from "./repository";

const ROLE = "signing_reader";
const HIDDEN = "-";

/** A gate that has read nothing yet, like one in another process. */
const setUp = async () => {
  const { url, database } = await testDatabase({ role: "owner" });
  const repository = createSigningRepository(database);
  return {
    url,
    database,
    repository,
    gate: () => createSigningGate(createSigningRepository(database)),
  };
};

test("a new installation may sign, and the database that it was is remembered", async () => {
  const { database, gate, repository } = await setUp();
  expect(() => gate().requireKnown()).toThrow();
  const first = gate();
  await first.require();
  first.requireKnown();
  expect(await database.prisma.signingState.findMany()).toMatchObject([
    { identity: (await repository.look()).present, offSince: null },
  ]);
});

test("another identity turns signing off at every instance, also when the former server comes back, until it is allowed", async () => {
  const { database, gate, repository } = await setUp();
  await gate().require();
  const identity = (await repository.look()).present;
  await database.prisma.signingState.update({
    where: { id: 1 },
    data: { identity: `${identity}/earlier` },
  });
  const off = gate();
  await expect(off.require()).rejects.toMatchObject({ code: "signing_off" });
  expect(() => off.requireKnown()).toThrow();
  await database.prisma.signingState.update({ where: { id: 1 }, data: { identity } });
  await expect(gate().require()).rejects.toMatchObject({ code: "signing_off" });
  const { offSince } = await database.prisma.signingState.findUniqueOrThrow({
    where: { id: 1 },
  });
  const decided = { by: "operator:test", reason: "compared", at: new Date() };
  // Signing was turned off at a different time than the compared one.
  expect(await repository.allow(identity, new Date(0), decided)).toBe(false);
  expect(await repository.allow(identity, offSince, decided)).toBe(true);
  await gate().require();
  expect(
    await database.prisma.auditEvent.findMany({ where: { action: "signing.allowed" } }),
  ).toMatchObject([{ actor: "operator:test" }]);
});

test("a table that was dumped and restored into the same database is another one", async () => {
  const { database, gate } = await setUp();
  await gate().require();
  await database.pool.query(
    "CREATE TABLE copy AS SELECT * FROM signing_state; DROP TABLE signing_state; ALTER TABLE copy RENAME TO signing_state",
  );
  await expect(gate().require()).rejects.toMatchObject({ code: "signing_off" });
});

test("an ordinary role reads the identity, and a fact that the server hides is left out", async () => {
  const { url, database, repository } = await setUp();
  const facts = (await repository.look()).present.split("/");
  expect(facts).toHaveLength(4);
  expect(facts).not.toContain(HIDDEN);
  await database.pool.query(
    `DO $$ BEGIN CREATE ROLE ${ROLE} LOGIN PASSWORD 'reads'; EXCEPTION WHEN duplicate_object THEN NULL; END $$`,
  );
  await database.pool.query(
    `GRANT SELECT, INSERT, UPDATE ON signing_state, unknown_move TO ${ROLE}`,
  );
  const asRole = new URL(url);
  [asRole.username, asRole.password] = [ROLE, "reads"];
  const other = createDatabase(asRole.href, { poolSize: 1 });
  try {
    expect((await createSigningRepository(other).look()).present).toBe(facts.join("/"));
    await database.pool.query("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC");
    const hidden = createSigningRepository(other);
    expect((await hidden.look()).present).toBe([HIDDEN, ...facts.slice(1)].join("/"));
    await createSigningGate(hidden).require();
  } finally {
    await other.close();
  }
});

test("a person stops signing with a reason, which every instance tells", async () => {
  const { gate, repository } = await setUp();
  await gate().require();
  await repository.stop({
    by: "operator:test",
    reason: "a snapshot was put back",
    at: new Date(),
  });
  await expect(gate().require()).rejects.toMatchObject({
    code: "signing_off",
    message: expect.stringContaining("a snapshot was put back") as string,
  });
});

test("whom an accepted move names is not paid again, until it is released; wallets of the project do not count", async () => {
  const { database, gate, repository } = await setUp();
  const [recipient, own] = [
    "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  ];
  const now = new Date();
  await database.prisma.project.create({
    data: { id: "prj_1", name: "p", createdAt: now } as never,
  });
  await database.prisma.wallet.create({
    data: { id: "wal_1", projectId: "prj_1", kind: "treasury", address: own, createdAt: now },
  });
  const move = {
    ...{
      chainId: 31337,
      hash: "0x01",
      txHash: "0x02",
      blockNumber: 3n,
      projectId: "prj_1",
      walletAddress: own,
    },
    payments: [{ to: recipient, token: "native", symbol: "ETH", amount: "1" }],
    payload: `aa${recipient.slice(2).toLowerCase()}bb${own.slice(2).toLowerCase()}`,
  };
  const decided = { by: "operator:test", reason: "compared", at: now };
  await repository.accept([move], decided);
  await expect(gate().requireUnpaid("prj_1", [own, recipient])).rejects.toMatchObject({
    code: "paid_already",
    details: [{ message: expect.stringContaining("1 ETH") as string }],
  });
  await gate().requireUnpaid("prj_1", [own]);
  await gate().requireUnpaid("prj_2", [recipient]);

  const asked = { projectId: "prj_1", chainId: 31337, token: "native" };
  const paid = { recipient: recipient.toLowerCase(), amount: "1" };
  const hasPaid = (change: object, payment: object = {}) =>
    gate().hasPaid({
      ...asked,
      ...change,
      payments: [
        { recipient: own, amount: "1" },
        { ...paid, ...payment },
      ],
    });
  expect(await hasPaid({})).toBe(true);
  const others = [{ projectId: "prj_2" }, { chainId: 31338 }, { token: own }].map((change) =>
    hasPaid(change),
  );
  expect(await Promise.all([...others, hasPaid({}, { amount: "1.5" })])).toEqual([
    false,
    false,
    false,
    false,
  ]);
  // Only the payload of this movement is known.
  await repository.accept([{ ...move, hash: "0x03", payments: [] }], decided);
  expect(await hasPaid({ token: own })).toBe(true);
  expect(await repository.release(["0x03"], decided)).toEqual(["0x03"]);

  expect(await repository.release(["0x01"], decided)).toEqual(["0x01"]);
  expect(await hasPaid({})).toBe(false);
  await gate().requireUnpaid("prj_1", [recipient]);
  expect(await repository.release(["0x01"], decided)).toEqual([]);
});
