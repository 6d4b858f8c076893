import { numberToHex, type Address, type Hex } from "viem";
import { z } from "zod";
import { rpc, rpcBatch } from "../json-rpc";

/**
 * Gas limit of each setup transaction. It is below the gas cap of a transaction (EIP-7825:
 * 16,777,216), and above the gas of the largest contract.
 */
const GAS = 15_000_000n;
const MAX_FEE_PER_GAS = 20_000_000_000n;
/**
 * Maximum number of transactions in one HTTP request. Nodes limit requests to 2 MB, and the largest
 * creation code takes 50 kB of hex.
 */
const BATCH_SIZE = 20;
const RECEIPT_TIMEOUT_MS = 30_000;
const RECEIPT_POLL_MS = 15;

export interface SetupTransaction {
  /** Describes the transaction in error messages. */
  readonly what: string;
  readonly to: Address | null;
  readonly data: Hex;
  readonly value?: bigint;
}

const receiptSchema = z.object({ status: z.string() }).nullable();
const quantity = z.string().transform(BigInt);

const chunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );

/**
 * Sends the transactions from an account that the node has unlocked, in order, and waits until all
 * are mined.
 * @throws Error that names the first that reverted
 */
export const sendAll = async (
  url: string,
  from: Address,
  transactions: readonly SetupTransaction[],
): Promise<void> => {
  const nonce = quantity.parse(await rpc(url, "eth_getTransactionCount", [from, "pending"]));
  const numbered = transactions.map((transaction, index) => ({
    transaction,
    nonce: nonce + BigInt(index),
  }));
  for (const chunk of chunks(numbered, BATCH_SIZE)) {
    const hashes = await rpcBatch(
      url,
      chunk.map(({ transaction, nonce: at }) => ({
        method: "eth_sendTransaction",
        params: [
          {
            from,
            ...(transaction.to ? { to: transaction.to } : {}),
            data: transaction.data,
            value: numberToHex(transaction.value ?? 0n),
            nonce: numberToHex(at),
            gas: numberToHex(GAS),
            maxFeePerGas: numberToHex(MAX_FEE_PER_GAS),
            maxPriorityFeePerGas: "0x1",
          },
        ],
      })),
    );
    await waitForAll(
      url,
      chunk.map(({ transaction }, index) => ({ what: transaction.what, hash: hashes[index] })),
    );
  }
};

const waitForAll = async (
  url: string,
  sent: readonly { what: string; hash: unknown }[],
): Promise<void> => {
  const deadline = Date.now() + RECEIPT_TIMEOUT_MS;
  for (;;) {
    const calls = sent.map(({ hash }) => ({
      method: "eth_getTransactionReceipt",
      params: [hash],
    }));
    const receipts = z.array(receiptSchema).parse(await rpcBatch(url, calls));
    const failed = receipts.findIndex(
      (receipt) => receipt !== null && receipt.status !== "0x1",
    );
    if (failed >= 0)
      throw new Error(
        `Setting up the local chain failed: ${sent[failed]?.what ?? "?"} reverted.`,
      );
    if (receipts.every((receipt) => receipt !== null)) return;
    if (Date.now() > deadline)
      throw new Error("Setting up the local chain failed: transactions are not mined.");
    await new Promise((resolve) => setTimeout(resolve, RECEIPT_POLL_MS));
  }
};
