import { createHmac } from "node:crypto";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { testApi } from "@/lib/dev/testing/api";
import { randomOf } from "@/lib/dev/testing/random";
import { getServices } from "@/lib/composition";
import { relayCallbacks } from "@/lib/adapters/relay/callbacks";
import { createCallbacksRepository } from "./repository";
import { createCallbacksService } from "./service";

const SECRET = "dev_callback_secret_of_this_test";
const api = await testApi({ devnet: false, variables: { WEBHOOK_SECRET: SECRET } });
const { database } = api.services;
/** The short form of the test sends only some of them. */
const [OPERATIONS, EVENTS] = inject("isLong") ? [100, 1000] : [20, 200];
const FAR = new Date("2100-01-01T00:00:00Z");
let projectId: string;
const operationIds: string[] = [];
const hashOf = (index: number): string => `0x${index.toString(16).padStart(64, "0")}`;
const isFinal = (index: number): boolean => index % 4 === 0;

/** The state between two turns of the driver. Every fourth operation has ended and has no job. */
const addOperation = async (index: number): Promise<void> => {
  const id = newId("operation");
  operationIds.push(id);
  const at = new Date();
  const status = isFinal(index) ? "completed" : "processing";
  const subStatus = isFinal(index) ? "full" : "source_submitted";
  const own = {
    id,
    projectId,
    kind: "swap",
    status,
    subStatus,
    createdBy: "usr_x",
    createdAt: at,
    updatedAt: at,
  };
  await database.prisma.operation.create({
    data: { ...own, request: {}, quoted: {}, minimumBase: 1, searchTerms: [], acceptedAt: at },
  });
  await database.prisma.operationLeg.create({
    data: {
      projectId,
      id: newId("leg"),
      operationId: id,
      position: 0,
      walletId: "wal_x",
      walletAddress: "0x0000000000000000000000000000000000000001",
      kind: "swap",
      sourceChainId: 1,
      destChainId: 1,
      state: isFinal(index) ? "completed" : "source_seen",
      routeLeg: {},
      amountBase: 1,
      via: "user_operation",
      gas: {},
      fromBlock: 0n,
      sourceTxHash: hashOf(index),
      userOpHash: hashOf(1000 + index),
      updatedAt: at,
    },
  });
  if (!isFinal(index))
    await database.prisma.job.create({ data: { id, queue: "operation", runAt: FAR } });
};

beforeAll(async () => {
  const session = await api.signIn();
  const project = await database.prisma.membership.findFirstOrThrow({
    where: { user: { address: session.account.address } },
  });
  projectId = project.projectId;
  for (let index = 0; index < OPERATIONS; index += 1) await addOperation(index);
});

const post = (
  source: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> =>
  api.fetch(`/webhooks/${source}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-signature": SECRET, ...headers },
    body,
  });
const isDue = async (index: number): Promise<boolean> => {
  const job = await database.prisma.job.findUnique({
    where: { id: operationIds[index] ?? "" },
  });
  return job !== null && job.runAt < FAR;
};
const stored = (source: string, eventKey: string) =>
  database.prisma.callback.findUnique({ where: { source_eventKey: { source, eventKey } } });

describe("a callback wakes what it names, and moves no state", () => {
  test.each([
    [
      "routing",
      1,
      {
        event: "request.status.updated",
        data: { status: "success", requestId: "0x1", inTxHashes: [hashOf(1)] },
      },
    ],
    [
      "routing",
      2,
      {
        id: "a1",
        type: "transfer.status",
        data: { orderId: "o", externalId: "", status: { state: "filled" } },
      },
    ],
    [
      "routing",
      3,
      {
        id: "a2",
        type: "transfer.data",
        data: { status: "filled", deposit: { txHash: hashOf(3) } },
      },
    ],
    [
      "bundler",
      5,
      {
        id: "b1",
        type: "user_operation.status",
        data: { userOpHash: hashOf(1005), status: "included" },
      },
    ],
  ] as const)("%s, %#", async (source, index, event) => {
    const body = JSON.stringify(event).replace(
      '"externalId":""',
      `"externalId":"${operationIds[index] ?? ""}"`,
    );
    expect(await isDue(index)).toBe(false);
    const response = await post(source, body);
    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
    expect(await isDue(index)).toBe(true);
    const operation = await database.prisma.operation.findUniqueOrThrow({
      where: { id: operationIds[index] ?? "" },
    });
    expect([operation.status, operation.subStatus, operation.version]).toEqual([
      "processing",
      "source_submitted",
      0,
    ]);
  });

  test("a payout whose batch the bundler speaks of is looked at now", async () => {
    const { prisma } = database;
    const payoutIds = [newId("payout"), newId("payout")];
    for (const [number, payoutId] of payoutIds.entries()) {
      const of = {
        projectId,
        payoutId,
        number: 0,
        walletAddress: "0x1",
        chainId: 1,
        token: "native",
      };
      const own = { ...of, rows: 1, amountBase: 1, updatedAt: new Date() };
      await prisma.walletPayoutBatch.create({
        data: { ...own, state: "sent", userOpHash: hashOf(5000 + number) },
      });
      await prisma.job.create({ data: { id: payoutId, queue: "payout", runAt: FAR } });
    }
    const data = { userOpHash: hashOf(5001), status: "included" };
    const response = await post(
      "bundler",
      JSON.stringify({ id: "b2", type: "user_operation.status", data }),
    );
    expect(response.status).toBe(200);
    const due = await prisma.job.findMany({ where: { queue: "payout", runAt: { lt: FAR } } });
    expect(due.map(({ id }) => id)).toEqual([payoutIds[1]]);
    expect(await stored("bundler", "generic:b2")).toMatchObject({ outcome: "woke" });
    const batches = await prisma.walletPayoutBatch.findMany({ where: { projectId } });
    expect(batches.map(({ state, version }) => [state, version])).toEqual([
      ["sent", 0],
      ["sent", 0],
    ]);
    await prisma.job.deleteMany({ where: { queue: "payout" } });
  });

  test("an unknown status is kept with its words, and wakes nobody", async () => {
    const data = { status: "teleported", inTxHashes: [hashOf(6)] };
    const response = await post(
      "routing",
      JSON.stringify({ id: "u1", event: "request.status.updated", data }),
    );
    expect(response.status).toBe(200);
    expect(await isDue(6)).toBe(false);
    expect(await stored("routing", "relay:u1")).toMatchObject({
      outcome: "unknown",
      statusWord: "teleported",
    });
  });

  test("a repeated one answers the same, is counted, and wakes nobody again", async () => {
    const body = JSON.stringify({
      id: "r1",
      type: "transfer.status",
      data: { hash: hashOf(7), status: "filled" },
    });
    expect((await post("routing", body)).status).toBe(200);
    await database.prisma.job.updateMany({
      where: { id: operationIds[7] ?? "" },
      data: { runAt: FAR },
    });
    const again = await post("routing", body);
    expect([again.status, await again.json()]).toEqual([200, { received: true }]);
    expect(await isDue(7)).toBe(false);
    expect(await stored("routing", "across:r1")).toMatchObject({
      count: 2,
      verifiedBy: "equality",
      outcome: "woke",
    });
  });

  test("without an id the body names the event", async () => {
    const body = JSON.stringify({
      event: "request.status.updated",
      data: { status: "pending" },
    });
    for (let turn = 0; turn < 3; turn += 1)
      expect((await post("routing", body)).status).toBe(200);
    expect((await post("routing", `${body} `)).status).toBe(200);
    const rows = await database.prisma.callback.findMany({
      where: { type: "request.status.updated", count: 3 },
    });
    expect(rows).toHaveLength(1);
  });
});

describe("each kind of bad request has its answer", () => {
  const big = JSON.stringify({ id: "big", text: "x".repeat(256 * 1024) });
  const deep = `{"a":${"[".repeat(40)}${"]".repeat(40)}}`;
  test.each([
    ["a wrong signature", "{}", { "x-signature": "wrong" }, 401, "invalid_signature"],
    [
      "a wrong signature under bad JSON",
      "{",
      { "x-signature": "wrong" },
      401,
      "invalid_signature",
    ],
    ["bad JSON", "{", {}, 400, "invalid_request"],
    ["JSON that is no object", "[1]", {}, 400, "invalid_request"],
    ["JSON that is a text", '"op"', {}, 400, "invalid_request"],
    ["JSON that nests too deep", deep, {}, 400, "invalid_request"],
    ["a character that cannot be stored", '{"id":"\\u0000"}', {}, 400, "invalid_request"],
    ["too large", big, {}, 413, "payload_too_large"],
    [
      "another media type",
      "{}",
      { "content-type": "text/plain" },
      415,
      "unsupported_media_type",
    ],
  ] as const)("%s", async (_, body, headers, status, code) => {
    for (const source of ["routing", "bundler"]) {
      const response = await post(source, body, headers);
      expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
        status,
        code,
      ]);
    }
  });

  test("256 KiB are taken", async () => {
    const body = JSON.stringify({ id: "large", text: "" });
    const padded = body.replace(
      '"text":""',
      `"text":"${"x".repeat(256 * 1024 - body.length)}"`,
    );
    expect((await post("routing", padded)).status).toBe(200);
  });

  test("an operation that is known and one that is not get the same answer", async () => {
    const known = await post(
      "routing",
      JSON.stringify({ id: "k1", type: "order.done", op: operationIds[9] ?? "" }),
    );
    const unknown = await post(
      "routing",
      JSON.stringify({ id: "k2", type: "order.done", op: newId("operation") }),
    );
    expect([known.status, await known.text()]).toEqual([unknown.status, await unknown.text()]);
    const headersOf = (response: Response) => [...response.headers.keys()];
    expect(headersOf(known)).toEqual(headersOf(unknown));
  });

  test("the bytes are verified, not what they mean", async () => {
    const body = '{ "id" : "bytes-1", "n": 1.0 }';
    const signature = createHmac("sha256", SECRET).update(body).digest("hex");
    expect((await post("bundler", body, { "x-signature": `sha256=${signature}` })).status).toBe(
      200,
    );
    expect(
      (await post("bundler", body.replace(" ", ""), { "x-signature": `sha256=${signature}` }))
        .status,
    ).toBe(401);
  });
});

test(`${String(EVENTS)} events, each five times and shuffled: each is counted once, and no operation changes`, async () => {
  const states = () =>
    database.prisma.operation.findMany({ select: { id: true, status: true, version: true } });
  const before = await states();
  await database.prisma.job.updateMany({ data: { runAt: FAR } });
  await database.prisma.callback.deleteMany();
  const words = ["pending", "submitted", "success", "failure", "refund", "nonsense"];
  const events = Array.from({ length: EVENTS }, (_, index) => ({
    id: `e${String(index)}`,
    event: "request.status.updated",
    data: { status: words[index % words.length], inTxHashes: [hashOf(index % OPERATIONS)] },
  }));
  const random = randomOf(14);
  const queue = Array.from({ length: 5 }, () => events).flat();
  for (let last = queue.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [queue[last], queue[other]] = [queue[other] ?? events[0], queue[last] ?? events[0]] as [
      never,
      never,
    ];
  }
  const callbacks = createCallbacksService({
    repository: createCallbacksRepository(database),
    senders: { shared: null, providers: [{ ...relayCallbacks, secret: null }] },
    clock: getServices().clock,
    metrics: { received: () => undefined, delayed: () => undefined },
  });
  const sender = async (): Promise<void> => {
    for (let body = queue.pop(); body !== undefined; body = queue.pop())
      await callbacks.receive("routing", {
        raw: Buffer.from(JSON.stringify(body)),
        body,
        verifiedBy: "unverified",
      });
  };
  await Promise.all(Array.from({ length: 8 }, sender));
  const counts = await database.prisma.callback.groupBy({ by: ["count"], _count: true });
  expect(counts).toEqual([{ count: 5, _count: EVENTS }]);
  expect(await states()).toEqual(before);
  // An operation that has ended has no job, and the callback creates none.
  const woken = await database.prisma.job.findMany({
    where: { runAt: { lt: FAR } },
    select: { id: true },
  });
  const open = operationIds.filter((_, index) => !isFinal(index));
  expect(woken.map(({ id }) => id).sort()).toEqual([...open].sort());
});
