import {
  isAddressEqual,
  recoverTransactionAddress,
  type Address,
  type TransactionSerialized,
} from "viem";
import { z } from "zod";
import { rpc, rpcBatch, type RpcCall } from "@/lib/dev/devnet/json-rpc";

const address = z.custom<Address>(
  (value) => typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value),
);
const raw = z.custom<TransactionSerialized>(
  (value) => typeof value === "string" && value.startsWith("0x"),
);
const waitingTransaction = z.object({
  hash: z.string(),
  nonce: z.string(),
  to: address.nullish(),
  value: z.string(),
  gas: z.string(),
  input: z.string(),
  gasPrice: z.string().nullish(),
  maxFeePerGas: z.string().nullish(),
  maxPriorityFeePerGas: z.string().nullish(),
});
type WaitingTransaction = z.output<typeof waitingTransaction>;
const content = z.object({
  queued: z.record(address, z.record(z.string(), waitingTransaction)),
});

const isSignedBy = async (
  sender: Address,
  serializedTransaction: TransactionSerialized,
): Promise<boolean> => {
  try {
    return isAddressEqual(await recoverTransactionAddress({ serializedTransaction }), sender);
  } catch {
    // The signature of an impersonated account is fake.
    return false;
  }
};

/**
 * The call that sends the transaction again with the same hash. `signed` is null for an
 * impersonated sender.
 */
const resend = (
  sender: Address,
  waiting: WaitingTransaction,
  signed: TransactionSerialized | null,
): RpcCall => {
  if (signed !== null) return { method: "eth_sendRawTransaction", params: [signed] };
  const { hash: _, gasPrice, maxFeePerGas, maxPriorityFeePerGas, ...rest } = waiting;
  const fee = maxFeePerGas ? { maxFeePerGas, maxPriorityFeePerGas } : { gasPrice };
  return { method: "eth_sendTransaction", params: [{ from: sender, ...rest, ...fee }] };
};

const freeSender = async (
  rpcUrl: string,
  sender: Address,
  waiting: readonly WaitingTransaction[],
): Promise<void> => {
  const next = BigInt(
    z.string().parse(await rpc(rpcUrl, "eth_getTransactionCount", [sender, "latest"])),
  );
  const inOrder = [...waiting].sort((a, b) => Number(BigInt(a.nonce) - BigInt(b.nonce)));
  // The transactions wait for a lower nonce that is not in the pool; sending them again would not
  // help.
  if (BigInt(inOrder[0]?.nonce ?? 0) !== next) return;
  const lookUps = inOrder.map(({ hash }) => ({
    method: "eth_getRawTransactionByHash",
    params: [hash],
  }));
  const found = z.array(raw.nullable()).parse(await rpcBatch(rpcUrl, lookUps));
  // One of the transactions was mined in the meantime, so the sender's other ones are not stuck.
  if (found.includes(null)) return;
  const calls = await Promise.all(
    inOrder.map(async (transaction, index) => {
      const signed = found[index] ?? null;
      return resend(
        sender,
        transaction,
        signed !== null && (await isSignedBy(sender, signed)) ? signed : null,
      );
    }),
  );
  const isImpersonated = calls.some(({ method }) => method === "eth_sendTransaction");
  // All calls are sent in one request, because between two requests another transaction of the
  // sender could take the freed nonce.
  await rpcBatch(rpcUrl, [
    ...(isImpersonated ? [{ method: "anvil_impersonateAccount", params: [sender] }] : []),
    { method: "anvil_removePoolTransactions", params: [sender] },
    ...calls,
  ]);
};

/**
 * Frees transactions that anvil (1.7.1) forgot. When a transaction arrives at the moment in which
 * its sender's previous one is mined, anvil may make this transaction and all later ones of the
 * sender wait forever. This happens with and without interval mining, to about one transaction in
 * 500 when several are sent at the same time. Transactions that are removed and sent again
 * unchanged are mined immediately.
 */
export const freeStuckTransactions = async (rpcUrl: string): Promise<void> => {
  const { queued } = content.parse(await rpc(rpcUrl, "txpool_content"));
  for (const [sender, waiting] of Object.entries(queued))
    await freeSender(rpcUrl, address.parse(sender), Object.values(waiting));
};
