import {
  TransactionReceiptNotFoundError,
  type PublicClient,
  type TransactionReceipt,
} from "viem";
import { expect, test } from "vitest";
import { minedReceipt } from "./mined-receipt";

const HASH = `0x${"1".repeat(64)}` as const;

/** A node that returns the receipt after this number of requests, and makes no block in between. */
const nodeThatShowsItAfter = (questions: number) => {
  let asked = 0;
  const getTransactionReceipt = () => {
    asked += 1;
    return asked > questions
      ? Promise.resolve({ transactionHash: HASH } as TransactionReceipt)
      : Promise.reject(new TransactionReceiptNotFoundError({ hash: HASH }));
  };
  return { getTransactionReceipt } as Pick<PublicClient, "getTransactionReceipt">;
};

test("a receipt that a node shows late is found although no further block is made", async () => {
  expect(await minedReceipt(nodeThatShowsItAfter(3), HASH, 60_000)).toMatchObject({
    transactionHash: HASH,
  });
});

test("a transaction that is not mined in time is not found", async () => {
  await expect(minedReceipt(nodeThatShowsItAfter(Infinity), HASH, 1)).rejects.toThrow(
    TransactionReceiptNotFoundError,
  );
});

test("another failure of the node is not waited out", async () => {
  const node = { getTransactionReceipt: () => Promise.reject(new Error("refused")) };
  await expect(minedReceipt(node, HASH, 60_000)).rejects.toThrow("refused");
});
