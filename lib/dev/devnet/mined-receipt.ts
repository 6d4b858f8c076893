import { setTimeout as sleep } from "node:timers/promises";
import {
  TransactionReceiptNotFoundError,
  type Hex,
  type PublicClient,
  type TransactionReceipt,
} from "viem";

const POLL_MS = 20;

/**
 * Waits until the transaction is mined. viem's `waitForTransactionReceipt` looks again only when
 * the block number has grown, but anvil (1.7.1) shows the number of a new block before its
 * receipts, so without another block it waits for ever.
 * @throws TransactionReceiptNotFoundError when the transaction is not mined within `timeoutMs`
 */
export const minedReceipt = async (
  client: Pick<PublicClient, "getTransactionReceipt">,
  hash: Hex,
  timeoutMs: number,
): Promise<TransactionReceipt> => {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await client.getTransactionReceipt({ hash });
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError) || Date.now() > deadline)
        throw error;
    }
    await sleep(POLL_MS);
  }
};
