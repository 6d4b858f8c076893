import { createPublicClient, fallback, http } from "viem";
import { expect, test } from "vitest";
import type { SharedBudget } from "@/lib/core/shared-budget";
import { gateOf } from "./rpc-transport";

interface Call {
  readonly id: number;
  readonly method: string;
}

const answerTo = ({ id }: Call): object => ({ jsonrpc: "2.0", id, result: "0x1" });

/**
 * A budget that refuses nobody and counts requests, and a node behind its gate. `fails` decides
 * which requests get a 503.
 */
const gated = ({
  fails = () => false,
  urls = 1,
}: {
  fails?: (url: string, request: number) => boolean;
  urls?: number;
}) => {
  const counts = { reads: 0, sends: 0, owed: 0, sent: 0, requests: 0 };
  const budget: SharedBudget = {
    acquire: (kind) => {
      counts[kind === "send" ? "sends" : "reads"] += 1;
      return Promise.resolve();
    },
    owe: (requests) => {
      counts.owed += requests;
    },
  };
  const gate = gateOf(budget);
  const node: typeof fetch = (url, init) => {
    const calls = JSON.parse(init?.body as string) as Call | Call[];
    counts.requests += 1;
    counts.sent += Array.isArray(calls) ? calls.length : 1;
    if (fails(url as string, counts.requests))
      return Promise.resolve(new Response(null, { status: 503 }));
    return Promise.resolve(
      Response.json(Array.isArray(calls) ? calls.map(answerTo) : answerTo(calls)),
    );
  };
  const transports = Array.from({ length: urls }, (_, index) =>
    http(`http://node-${String(index)}.test`, {
      batch: { wait: 0 },
      fetchFn: gate.fetch(node) as typeof fetch,
      retryCount: 1,
      retryDelay: 1,
    }),
  );
  return {
    counts,
    client: createPublicClient({ transport: gate.transport(fallback(transports)) }),
  };
};

const balanceAt = (block: number) =>
  ({
    address: "0x0000000000000000000000000000000000000001",
    blockNumber: BigInt(block),
  }) as const;

test("each call of a batch takes one request of the budget, and transactions are sends", async () => {
  const { counts, client } = gated({});
  await Promise.all([
    ...[1, 2, 3].map((block) => client.getBalance(balanceAt(block))),
    client.sendRawTransaction({ serializedTransaction: "0x01" }),
  ]);
  expect(counts).toEqual({ reads: 3, sends: 1, owed: 0, sent: 4, requests: 1 });
});

test("a call that is sent again, to the same node or to the next one, is owed", async () => {
  const { counts, client } = gated({ urls: 2, fails: (url) => url.includes("node-0") });
  await Promise.all([1, 2, 3].map((block) => client.getBalance(balanceAt(block))));
  expect([counts.reads, counts.sent]).toEqual([3, 9]);
  expect(counts.owed).toBe(6);
});

test("equal calls at the same time, which are sent once, pay for nothing that is sent later", async () => {
  const { counts, client } = gated({ fails: (_, request) => request === 2 });
  await Promise.all(
    [1, 2, 3].map(() => client.request({ method: "eth_chainId" }, { dedupe: true })),
  );
  expect([counts.reads, counts.sent, counts.owed]).toEqual([3, 1, 0]);
  await client.getBalance(balanceAt(1));
  expect([counts.reads, counts.sent, counts.owed]).toEqual([4, 3, 1]);
});
