import { recoverTransactionAddress, isAddressEqual, type Address, type TransactionSerialized } from "viem";
import { z } from "zod";
import { rpc, rpcBatch } from "./json-rpc";

const address = z.custom<Address>((value) => typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value));
const raw = z.custom<TransactionSerialized>((value) => typeof value === "string" && value.startsWith("0x"));
const content = z.object({
  queued: z.record(address, z.record(z.string(), z.object({ hash: z.string(), nonce: z.string() }))),
});

const freeSender = async (
  rpcUrl: string,
  sender: Address,
  waiting: readonly { hash: string; nonce: string }[],
): Promise<boolean> => {
  const next = BigInt(z.string().parse(await rpc(rpcUrl, "eth_getTransactionCount", [sender, "latest"])));
  const inOrder = [...waiting].sort((a, b) => Number(BigInt(a.nonce) - BigInt(b.nonce)));
  // The transactions wait for a lower nonce that is not in the pool; sending them again would not help.
  if (BigInt(inOrder[0]?.nonce ?? 0) !== next) return false;
  const calls = inOrder.map(({ hash }) => ({ method: "eth_getRawTransactionByHash", params: [hash] }));
  const found = z.array(raw.nullable()).parse(await rpcBatch(rpcUrl, calls));
  const signed = found.filter((each) => each !== null);
  // One of them was mined meanwhile, so the others are not stuck.
  if (signed.length < found.length) return false;
  const signers = await Promise.all(
    signed.map((serializedTransaction) => recoverTransactionAddress({ serializedTransaction })),
  );
  // A transaction of an impersonated account has no signature, so it cannot be sent again.
  if (!signers.every((signer) => isAddressEqual(signer, sender))) return false;
  await rpc(rpcUrl, "anvil_removePoolTransactions", [sender]);
  for (const transaction of signed) await rpc(rpcUrl, "eth_sendRawTransaction", [transaction]).catch(() => undefined);
  return true;
};

/**
 * Frees transactions that anvil forgot. When a transaction arrives at the moment in which the previous one is mined,
 * anvil makes it wait forever for that one (1.7.1, with and without interval mining; about one in 500 when several are
 * sent at once), and all later ones of its sender behind it. Removed and sent again unchanged, they are mined at once.
 */
export const freeStuckTransactions = async (rpcUrl: string): Promise<void> => {
  const { queued } = content.parse(await rpc(rpcUrl, "txpool_content"));
  for (const [sender, waiting] of Object.entries(queued))
    await freeSender(rpcUrl, address.parse(sender), Object.values(waiting));
};
