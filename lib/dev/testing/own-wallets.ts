import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  http,
  keccak256,
  type Address,
  type Hex,
  type PrivateKeyAccount,
  type TypedDataDefinition,
} from "viem";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { createQuote, executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createSmartAccount, initWalletLink, verifyWalletLink } from "@/lib/contracts/wallets";
import { chainsFile } from "@/lib/platform/config/chains";
import { expect } from "vitest";
import type { TestApi } from "./api";
import type { TestDevnet } from "./devnet";
import { testAccount } from "./factories";
import { codesOf, type Customer, type QuoteBody } from "./journey";
import { afterFile } from "./after-file";

type Quote = ResponseOf<typeof createQuote>;
type Prepared = ResponseOf<typeof prepareSwap>;
export type Action = Prepared["actions"][number];
type Signatures = NonNullable<BodyInput<typeof executeSwap>["signatures"]>;

const RECEIPT_TIMEOUT_MS = 20_000;
const FILL_DEADLINE_SECONDS = 6;

/** Links a wallet to the customer's project with the wallet's signature, and returns the wallet. */
export const linkedWallet = async (
  { session }: Customer,
  account: PrivateKeyAccount = testAccount(),
): Promise<PrivateKeyAccount> => {
  const { message } = await session.client.call(initWalletLink, {
    body: { address: account.address },
  });
  const signature = await account.signMessage({ message });
  await session.client.call(verifyWalletLink, {
    body: { address: account.address, signature },
  });
  return account;
};

/** Creates the smart account of a linked wallet, and returns its address. */
export const ownSmartAccount = async (
  { session }: Customer,
  owner: Address,
  chainId: number,
): Promise<Address> => {
  const { address } = await session.client.call(createSmartAccount, {
    body: { ownerAddress: owner, chainId },
  });
  return address;
};

/**
 * Creates a quote, enters the code and prepares the swap. Returns the quote, and the prepared swap
 * with the actions for the wallets.
 */
export const prepareOwn = async (
  api: TestApi,
  customer: Customer,
  body: QuoteBody,
): Promise<{ quote: Quote; prepared: Prepared }> => {
  const { client } = customer.session;
  const seen = await codesOf(api, customer);
  const quote = await client.call(createQuote, { body });
  await client.call(requestOtp, { body: { quoteId: quote.quoteId } });
  const otp = await api.readCode(customer.email, seen);
  const prepared = await client.call(prepareSwap, { body: { quoteId: quote.quoteId, otp } });
  return { quote, prepared };
};

const chainClients = (api: TestApi, chainId: number) => {
  const chain = api.services.registry.viemChain(chainId);
  const transport = http(api.services.registry.get(chainId).rpcUrls[0]);
  return {
    wallet: (account: PrivateKeyAccount) => createWalletClient({ account, chain, transport }),
    reader: createPublicClient({ chain, transport, pollingInterval: 50 }),
  };
};

/** Sends a transaction as a wallet would, and waits until it is mined. */
export const sendAs = async (
  api: TestApi,
  account: PrivateKeyAccount,
  transaction: { chainId: number; to: Address; data?: Hex; value?: bigint; gas?: bigint },
): Promise<Hex> => {
  const { chainId, ...rest } = transaction;
  const { wallet, reader } = chainClients(api, chainId);
  const hash = await wallet(account).sendTransaction(rest);
  await reader.waitForTransactionReceipt({ hash, timeout: RECEIPT_TIMEOUT_MS });
  return hash;
};

/** Permit2 as the chain file names it. */
export const permit2On = (api: TestApi, chainId: number): Address => {
  const { permit2 } = api.services.registry.get(chainId).contracts;
  if (permit2 === undefined) throw new Error(`Chain ${String(chainId)} has no Permit2.`);
  return permit2;
};

/** Approves Permit2 for this amount of a token, in base units. */
export const allowPermit2 = async (
  api: TestApi,
  wallet: PrivateKeyAccount,
  { chainId, token, amountBase }: { chainId: number; token: string; amountBase: bigint },
): Promise<void> => {
  const { address } = api.services.registry.resolveToken(chainId, token);
  if (address === "native") throw new Error("Coins are not allowed to anybody.");
  const args = [permit2On(api, chainId), amountBase] as const;
  const data = encodeFunctionData({ abi: erc20Abi, functionName: "approve", args });
  await sendAs(api, wallet, { chainId, to: address, data });
};

export const signAction = (account: PrivateKeyAccount, { typedData }: Action): Promise<Hex> =>
  account.signTypedData(typedData as unknown as TypedDataDefinition);

const doAction = async (
  api: TestApi,
  accounts: readonly PrivateKeyAccount[],
  action: Action,
): Promise<Signatures[number]> => {
  const { id: actionId, chainId, transaction, signerAddress } = action;
  const account = accounts.find(({ address }) => address === signerAddress);
  if (account === undefined) throw new Error(`Nobody here is ${signerAddress}.`);
  if (transaction === undefined)
    return { actionId, signature: await signAction(account, action) };
  const [value, gas] = [BigInt(transaction.value), BigInt(transaction.gas)];
  const { to, data } = transaction;
  return {
    actionId,
    txHash: await sendAs(api, account, { chainId, to, data: data as Hex, value, gas }),
  };
};

/** Does all actions of a prepared swap one after another, and returns the signatures. */
export const doActions = async (
  api: TestApi,
  accounts: readonly PrivateKeyAccount[],
  actions: readonly Action[],
): Promise<Signatures> => {
  const signatures: Signatures = [];
  for (const action of actions) signatures.push(await doAction(api, accounts, action));
  return signatures;
};

export type Given = Signatures[number];

/** A linked wallet that can pay for its own transactions. */
export const plainWallet = async (
  devnet: TestDevnet,
  customer: Customer,
): Promise<PrivateKeyAccount> => {
  const account = await linkedWallet(customer);
  await devnet.setCoins(account.address, "10");
  return account;
};

/** A transfer of one token from one wallet to an unused address. */
export const oneSource = (
  address: Address,
  from: readonly [chainId: number, token: string, amount: string],
  to: readonly [chainId: number, token: string],
): QuoteBody & { toAddress: Address } => ({
  from: [{ address, chainId: from[0], token: from[1], amount: from[2] }],
  toChainId: to[0],
  toToken: to[1],
  toAddress: testAccount().address,
});

export const executeOwn = (customer: Customer, quoteId: string, signatures?: Signatures) =>
  customer.session.client.call(executeSwap, {
    body: { quoteId, ...(signatures === undefined ? {} : { signatures }) },
  });

const FEE = 10_000_000_000n;

/** Signs the transaction of an action, but sends it to no node. */
export const signedTransaction = async (
  api: TestApi,
  account: PrivateKeyAccount,
  { transaction, chainId }: Action,
  change: { fee?: bigint; nonce?: number } = {},
): Promise<{ raw: Hex; hash: Hex; nonce: number }> => {
  if (transaction === undefined) throw new Error("This action is no transaction.");
  const fee = change.fee ?? FEE;
  const { address } = account;
  const nonce =
    change.nonce ?? (await chainClients(api, chainId).reader.getTransactionCount({ address }));
  const raw = await account.signTransaction({
    chainId,
    nonce,
    to: transaction.to,
    data: transaction.data as Hex,
    value: BigInt(transaction.value),
    gas: BigInt(transaction.gas),
    maxFeePerGas: fee,
    maxPriorityFeePerGas: fee / 10n,
  });
  return { raw, hash: keccak256(raw), nonce };
};

export const broadcast = async (
  api: TestApi,
  chainId: number,
  serializedTransaction: Hex,
): Promise<void> => {
  const { reader } = chainClients(api, chainId);
  const hash = await reader.sendRawTransaction({ serializedTransaction });
  await reader.waitForTransactionReceipt({ hash, timeout: RECEIPT_TIMEOUT_MS });
};

/**
 * Returns the path of a chains file with a bridge that carries only USDC, so that other tokens are
 * sold first, and with deadlines that a test can wait for.
 */
export const narrowBridgeChains = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-chains-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const { chains } = chainsFile.parse(
    JSON.parse(readFileSync("lib/platform/config/chains/local.json", "utf8")),
  );
  for (const { contracts } of chains) {
    if (!contracts.across) continue;
    contracts.across.tokens = ["USDC"];
    contracts.across.fillDeadlineSeconds = FILL_DEADLINE_SECONDS;
  }
  const file = join(folder, "chains.json");
  writeFileSync(file, JSON.stringify({ chains }));
  return file;
};

/** Returns the fault of each rejected signature by action id, from the error of the request. */
export const refusedWith = async (work: Promise<unknown>): Promise<Record<string, string>> => {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ status: 401, code: "invalid_signature" });
  const { details } = error as { details: { path: string; code: string }[] };
  return Object.fromEntries(
    details.map(({ path, code }) => [path.replace("signatures.", ""), code]),
  );
};
